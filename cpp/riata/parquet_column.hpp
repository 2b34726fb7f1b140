// Unpacked pages of a column of Parquet, one after another, to values of as many rows as are wanted at a
// time.
//
// Texts become codes into the dictionary that the file has for them, as they stand there: no text is looked
// at until its dictionary is hashed. Texts without a dictionary follow behind it, each a code of its own. For
// columns that are not within others: a row has one value, or none where that is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "riata/array.hpp"
#include "riata/parquet_header.hpp"
#include "riata/parquet_runs.hpp"

namespace riata::parquet {

enum class Outcome : std::uint8_t { done, more, damaged, no_memory };

// Where the values of a page are.
struct Page {
  const Byte* begin = nullptr;
  const Byte* end = nullptr;
  std::int64_t n_values = 0;  // with those that are missing
  Encoding encoding = Encoding::plain;
  std::int64_t levels = -1;  // bytes of those before the values; below 0: the page says it
};

// What is there of each row, and of the values of a page how many.
class Presence {
 public:
  explicit Presence(bool optional) noexcept : optional_(optional) {}

  bool start(Page& page) noexcept {
    auto size = static_cast<std::uint64_t>(page.end - page.begin);
    if (optional_ && page.levels < 0) {
      if (size < 4) return false;
      std::uint32_t given;
      std::memcpy(&given, page.begin, 4);
      page.begin += 4;
      size -= 4;
      if (given > size) return false;
      page.levels = given;
    }
    page.levels = std::max<std::int64_t>(page.levels, 0);
    if (static_cast<std::uint64_t>(page.levels) > size) return false;
    levels_ = Runs(page.begin, page.begin + page.levels, 1);
    page.begin += page.levels;
    return true;
  }

  bool begin(std::size_t rows) noexcept {
    valid_.set_size(0);
    missing_ = 0;
    return !optional_ || valid_.reserve(rows + 16);
  }

  // Of the next `rows` rows; `present` of them have a value.
  bool read(std::size_t rows, std::size_t& present) noexcept {
    present = rows;
    if (!optional_) return true;
    present = 0;
    if (!levels_.read_bits(valid_.data() + valid_.size(), rows, present)) return false;
    valid_.set_size(valid_.size() + rows);
    missing_ += rows - present;
    return true;
  }

  // The values of the last rows, each in its place; what is missing has some other row's.
  template <class T, class Value>
  void spread(T* to, std::size_t rows, std::size_t present, Value value) const noexcept {
    if (present == rows) {
      for (std::size_t i = 0; i < rows; ++i) to[i] = value(i);
      return;
    }
    if (present == 0) {
      std::fill(to, to + rows, T{});
      return;
    }
    const Byte* const valid = valid_.data() + valid_.size() - rows;
    std::size_t next = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      to[i] = value(std::min(next, present - 1));
      next += valid[i];
    }
  }

  std::size_t missing() const noexcept { return missing_; }
  Array<Byte>& valid() noexcept { return valid_; }

 private:
  const bool optional_;
  Runs levels_;
  Array<Byte> valid_;  // a byte a row
  std::size_t missing_ = 0;
};

// What columns of texts and of numbers share: rows are taken from a page until it has no more.
template <class Self>
class ColumnBase {
 public:
  explicit ColumnBase(bool optional) noexcept : presence_(optional) {}

  // `rows` rows are wanted now.
  Outcome begin(std::size_t rows) noexcept {
    wanted_ = rows;
    const bool room =
        presence_.begin(rows) && indices_.reserve(std::min(rows, kAtOnce) + 1) && self().make_room(rows);
    return room ? Outcome::done : Outcome::no_memory;
  }

  // The next page; its memory must stay until it is used up.
  Outcome set_page(Page page) noexcept {
    if (page.n_values < 0 || !presence_.start(page)) return Outcome::damaged;
    coded_ = page.encoding == Encoding::rle_dictionary || page.encoding == Encoding::plain_dictionary;
    if (!coded_ && page.encoding != Encoding::plain) return Outcome::damaged;
    p_ = page.begin;
    end_ = page.end;
    left_ = static_cast<std::size_t>(page.n_values);
    if (coded_ && left_ > 0) {
      if (p_ == end_) return p_ = end_, presence_only();
      const int width = *p_++;
      if (width > Runs::kWidest) return Outcome::damaged;
      codes_ = Runs(p_, end_, width);
    }
    return Outcome::done;
  }

  // More rows from the page: `more` pages are needed, or all wanted are there.
  Outcome fill() noexcept {
    while (left_ > 0 && wanted_ > 0) {
      const std::size_t rows = std::min({left_, wanted_, kAtOnce});
      std::size_t present = 0;
      if (!presence_.read(rows, present)) return Outcome::damaged;
      if (coded_ && present > 0 && !read_codes(present)) return Outcome::damaged;
      const Outcome outcome = coded_ ? self().add_coded(rows, present) : self().add_plain(rows, present);
      if (outcome != Outcome::done) return outcome;
      left_ -= rows;
      wanted_ -= rows;
    }
    return wanted_ > 0 ? Outcome::more : Outcome::done;
  }

  Presence& presence() noexcept { return presence_; }

 protected:
  static constexpr std::size_t kAtOnce = 4096;  // rows whose codes stay in the cache

  Presence presence_;
  const Byte* p_ = nullptr;  // plain values not read yet
  const Byte* end_ = nullptr;
  Array<std::uint32_t> indices_;
  std::size_t n_dictionary_ = 0;

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  // A page in which all is missing may have no codes, not even their width.
  Outcome presence_only() noexcept {
    codes_ = Runs(end_, end_, 0);
    return Outcome::done;
  }

  bool read_codes(std::size_t count) noexcept {
    if (!codes_.read(indices_.data(), count)) return false;
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, indices_.data()[i]);
    return largest < n_dictionary_;
  }

  Runs codes_;
  bool coded_ = false;
  std::size_t left_ = 0;    // rows of the page
  std::size_t wanted_ = 0;  // rows that are not there yet
};

template <class T>
class NumberColumn : public ColumnBase<NumberColumn<T>> {
  using Base = ColumnBase<NumberColumn<T>>;
  friend Base;

 public:
  using Base::Base;

  Outcome set_dictionary(const Byte* begin, const Byte* end, std::int64_t count) noexcept {
    if (count < 0 || static_cast<std::uint64_t>(count) > static_cast<std::uint64_t>(end - begin) / sizeof(T))
      return Outcome::damaged;
    this->n_dictionary_ = static_cast<std::size_t>(count);
    dictionary_.set_size(0);
    if (!dictionary_.reserve(this->n_dictionary_ + 1)) return Outcome::no_memory;
    if (count > 0) std::memcpy(dictionary_.data(), begin, this->n_dictionary_ * sizeof(T));
    return Outcome::done;
  }

  Array<T>& values() noexcept { return values_; }

 private:
  bool make_room(std::size_t rows) noexcept {
    values_.set_size(0);
    return values_.reserve(rows + 1);
  }

  Outcome add_coded(std::size_t rows, std::size_t present) noexcept {
    const std::uint32_t* const codes = this->indices_.data();
    const T* const dictionary = dictionary_.data();
    add(rows, present, [=](std::size_t i) { return dictionary[codes[i]]; });
    return Outcome::done;
  }

  Outcome add_plain(std::size_t rows, std::size_t present) noexcept {
    const Byte* const p = this->p_;
    if (static_cast<std::size_t>(this->end_ - p) / sizeof(T) < present) return Outcome::damaged;
    add(rows, present, [=](std::size_t i) {
      T value;
      std::memcpy(&value, p + i * sizeof(T), sizeof(T));
      return value;
    });
    this->p_ += present * sizeof(T);
    return Outcome::done;
  }

  template <class Value>
  void add(std::size_t rows, std::size_t present, Value value) noexcept {
    this->presence_.spread(values_.data() + values_.size(), rows, present, value);
    values_.set_size(values_.size() + rows);
  }

  Array<T> dictionary_;
  Array<T> values_;
};

// Texts one behind another, as Arrow has them.
class TextList {
 public:
  bool clear() noexcept {
    offsets_.set_size(0);
    data_.set_size(0);
    return offsets_.push_back(0);
  }
  std::size_t count() const noexcept { return offsets_.size() - 1; }

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

  Array<std::int64_t>& offsets() noexcept { return offsets_; }
  Array<Byte>& data() noexcept { return data_; }

 private:
  static constexpr std::size_t kRoom = 16;
  static std::size_t grown(std::size_t needed, std::size_t there) noexcept {
    return needed <= there ? there : std::max(needed, there + there / 2);
  }

  Array<std::int64_t> offsets_;
  Array<Byte> data_;
};

class TextColumn : public ColumnBase<TextColumn> {
  friend ColumnBase<TextColumn>;

 public:
  using ColumnBase::ColumnBase;

  Outcome set_dictionary(const Byte* begin, const Byte* end, std::int64_t count) noexcept {
    if (count < 0 || count > INT32_MAX) return Outcome::damaged;
    if (!dictionary_.clear()) return Outcome::no_memory;
    n_dictionary_ = 0;
    const Outcome outcome = dictionary_.read(begin, end, static_cast<std::size_t>(count));
    if (outcome == Outcome::done) n_dictionary_ = static_cast<std::size_t>(count);
    return outcome;
  }

  TextList& dictionary() noexcept { return dictionary_; }
  TextList& plain() noexcept { return plain_; }   // those of the last rows that have no dictionary
  bool mixed() const noexcept { return mixed_; }  // whether others of these rows have one
  Array<std::int32_t>& codes() noexcept { return codes_; }

 private:
  bool make_room(std::size_t rows) noexcept {
    codes_.set_size(0);
    mixed_ = false;
    return plain_.clear() && codes_.reserve(rows + 1);
  }

  Outcome add_coded(std::size_t rows, std::size_t present) noexcept {
    const std::uint32_t* const codes = indices_.data();
    if (!mixed_ && plain_.count() > 0) {  // they stood alone so far
      for (std::size_t i = 0; i < codes_.size(); ++i)
        codes_.data()[i] += static_cast<std::int32_t>(n_dictionary_);
    }
    mixed_ = true;
    add(rows, present, [=](std::size_t i) { return static_cast<std::int32_t>(codes[i]); });
    return Outcome::done;
  }

  Outcome add_plain(std::size_t rows, std::size_t present) noexcept {
    const std::size_t first = (mixed_ ? n_dictionary_ : 0) + plain_.count();
    const Outcome outcome = plain_.read(p_, end_, present);
    if (outcome != Outcome::done) return outcome;
    if (n_dictionary_ + plain_.count() > INT32_MAX) return Outcome::damaged;
    add(rows, present, [=](std::size_t i) { return static_cast<std::int32_t>(first + i); });
    return Outcome::done;
  }

  template <class Value>
  void add(std::size_t rows, std::size_t present, Value value) noexcept {
    presence_.spread(codes_.data() + codes_.size(), rows, present, value);
    codes_.set_size(codes_.size() + rows);
  }

  TextList dictionary_, plain_;
  bool mixed_ = false;
  Array<std::int32_t> codes_;
};

}  // namespace riata::parquet
