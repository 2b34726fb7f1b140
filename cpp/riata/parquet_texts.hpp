// Texts of a column of Parquet: the dictionary of its codes, or those that have none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "riata/array.hpp"
#include "riata/column.hpp"
#include "riata/parquet_unpack.hpp"

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

// Texts, and the keys of the features `column=text`.
struct TextDictionary {
  TextList texts;
  Array<std::int64_t> keys;
  std::size_t longest = 0;  // bytes of a text

  // With their names, if that is wanted and none is too long; null if not.
  const NamedKey* named_keys() const noexcept { return named_; }

  // Hashes those that have no key yet; false: no memory.
  bool hash(std::string_view column, bool names) noexcept {
    const std::size_t first = keys.size();
    if (!keys.reserve(std::max<std::size_t>(texts.count(), 1))) return false;
    try {
      keys_of_texts(column, texts.view(), keys.data(), static_cast<std::int64_t>(first));
    } catch (const std::bad_alloc&) {
      return false;
    }
    keys.set_size(texts.count());
    longest = static_cast<std::size_t>(std::max<std::int64_t>(texts.view().longest(), 0));
    if (!names || column.size() + 1 + longest > NamedKey::kLongest) return true;
    if (!room_.reserve(texts.count() + 2)) return false;
    const auto past = reinterpret_cast<std::uintptr_t>(room_.data()) % sizeof(NamedKey);
    named_ = reinterpret_cast<NamedKey*>(reinterpret_cast<char*>(room_.data()) + sizeof(NamedKey) - past);
    name_keys(column, texts.view(), keys.data(), named_);
    return true;
  }

 private:
  Array<NamedKey> room_;
  NamedKey* named_ = nullptr;  // in the room, so that none is in two lines of the cache
};

}  // namespace riata::parquet
