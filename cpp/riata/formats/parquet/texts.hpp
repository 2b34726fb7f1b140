// Texts of a column of Parquet: the dictionary of its codes, or those that have none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "riata/base/array.hpp"
#include "riata/formats/parquet/unpack.hpp"
#include "riata/formats/table/column.hpp"
#include "riata/text/truths.hpp"

namespace riata::parquet {

enum class Outcome : std::uint8_t { done, more, damaged, no_memory };

// Texts one behind another, as Arrow has them.
class TextList {
 public:
  bool clear() noexcept {
    offsets_.set_size(0);
    data_.set_size(0);
    return offsets_.push_back(0);
  }
  std::size_t count() const noexcept { return offsets_.size() > 0 ? offsets_.size() - 1 : 0; }

  // `count` texts, each behind four bytes that say how long it is; moves `p` behind them.
  Outcome read(const Byte*& p, const Byte* end, std::size_t count) noexcept {
    const auto room = static_cast<std::size_t>(end - p);
    if (count > room / 4) return Outcome::damaged;
    if (!offsets_.reserve(grown(offsets_.size() + count, offsets_.capacity())) ||
        !data_.reserve(grown(data_.size() + room + kRoom, data_.capacity()))) {
      return Outcome::no_memory;
    }
    std::int64_t* const offsets = offsets_.data() + offsets_.size();
    Byte* to = data_.data() + data_.size();
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t size;
      if (end - p < 4) return Outcome::damaged;
      std::memcpy(&size, p, 4);
      p += 4;
      if (size > static_cast<std::size_t>(end - p)) return Outcome::damaged;
      if (size <= kRoom && static_cast<std::size_t>(end - p) >= kRoom) {
        std::memcpy(to, p, kRoom);
      } else {
        std::memcpy(to, p, size);
      }
      p += size;
      to += size;
      offsets[i] = to - data_.data();
    }
    offsets_.set_size(offsets_.size() + count);
    data_.set_size(static_cast<std::size_t>(to - data_.data()));
    return Outcome::done;
  }

  bool add_nothing() noexcept { return offsets_.push_back(static_cast<std::int64_t>(data_.size())); }

  bool append(const TextList& other) noexcept {
    const auto before = static_cast<std::int64_t>(data_.size());
    if (!data_.append(other.data_.data(), other.data_.size())) return false;
    const std::size_t first = offsets_.size();
    if (!offsets_.append(other.offsets_.data() + 1, other.count())) return false;
    for (std::size_t i = first; i < offsets_.size(); ++i) offsets_.data()[i] += before;
    return true;
  }

  const Array<std::int64_t>& offsets() const noexcept { return offsets_; }
  const Array<Byte>& data() const noexcept { return data_; }
  Texts view() const noexcept {
    return {static_cast<std::int64_t>(count()), offsets_.data(), reinterpret_cast<const char*>(data_.data()),
            static_cast<std::int64_t>(data_.size())};
  }

 private:
  static constexpr std::size_t kRoom = 16;  // bytes
  static std::size_t grown(std::size_t needed, std::size_t there) noexcept {
    return needed <= there ? there : std::max(needed, there + there / 2);
  }

  Array<std::int64_t> offsets_;
  Array<Byte> data_;
};

// Texts, one at least, and the keys of the features `column=text`.
class TextDictionary {
 public:
  TextList texts;

  // keys()[-1] is that of what is missing.
  const std::int64_t* keys() const noexcept { return keys_.data() + 1; }
  // The same with their names, if that is wanted and none is too long; null if not.
  const NamedKey* named_keys() const noexcept { return named_; }
  std::size_t longest() const noexcept { return longest_; }  // bytes of a text
  bool respelled() const noexcept { return respelled_; }     // one of them is True, FALSE or the like

  // Begins with all that another one has; false: no memory.
  bool start_with(const TextDictionary& other) noexcept {
    return texts.append(other.texts) && keys_.append(other.keys_.data(), other.keys_.size());
  }

  // Hashes those that have no key yet; false: no memory.
  bool hash(std::string_view column, bool names) noexcept {
    if (texts.count() == 0 && !texts.add_nothing()) return false;
    const std::size_t first = std::max<std::size_t>(keys_.size(), 1) - 1;
    if (!keys_.reserve(texts.count() + 1)) return false;
    keys_.data()[0] = static_cast<std::int64_t>(key_of_joined(column, "=?"));
    try {
      keys_of_texts(column, texts.view(), keys_.data() + 1, static_cast<std::int64_t>(first));
    } catch (const std::bad_alloc&) {
      return false;
    }
    keys_.set_size(texts.count() + 1);
    respelled_ = false;
    const Texts all = texts.view();
    for (std::int64_t i = 0; !respelled_ && i < all.count; ++i)
      respelled_ = all.holds(i) && is_respelled(all[i]);
    longest_ = static_cast<std::size_t>(std::max<std::int64_t>(texts.view().longest(), 1));
    if (!names || column.size() + 1 + longest_ > NamedKey::kLongest) return true;
    if (!room_.reserve(texts.count() + 3)) return false;
    const auto past = reinterpret_cast<std::uintptr_t>(room_.data()) % sizeof(NamedKey);
    named_ = reinterpret_cast<NamedKey*>(reinterpret_cast<char*>(room_.data()) - past) + 2;
    name_keys(column, texts.view(), keys(), named_);
    return true;
  }

 private:
  Array<std::int64_t> keys_;
  std::size_t longest_ = 0;
  bool respelled_ = false;
  Array<NamedKey> room_;
  NamedKey* named_ = nullptr;  // in the room, so that none is in two lines of the cache
};

}  // namespace riata::parquet
