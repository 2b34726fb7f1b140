// Unpacked pages of a column of Parquet, one after another, to values of as many rows as are wanted at a
// time.
//
// Texts become codes into the dictionary that the file has for them, as they stand there: no text is looked
// at but to hash its dictionary. Texts without a dictionary follow behind it, each a code of its own. For
// columns that are not within others: a row has one value, or none where that is allowed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "riata/base/array.hpp"
#include "riata/formats/parquet/header.hpp"
#include "riata/formats/parquet/runs.hpp"
#include "riata/formats/parquet/texts.hpp"

namespace riata::parquet {

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
    missing_ = 0;
    return !optional_ || bits_.clear(rows);
  }

  // Of the next `rows` rows; `present` of them have a value.
  bool read(std::size_t rows, std::size_t& present) noexcept {
    present = rows;
    if (!optional_) return true;
    present = 0;
    if (!levels_.read_bits(bits_, rows, present)) return false;
    missing_ += rows - present;
    return true;
  }

  // The codes of the last rows, each in its place, and `missing` for those that are not there.
  void spread(const std::uint32_t* codes, std::uint32_t* to, std::size_t rows, std::uint32_t missing,
              const UnpackKernels& kernels) const noexcept {
    kernels.spread(codes, bits_.bytes(), bits_.size() - rows, to, rows, missing);
  }

  // The same of any values: value(i) is the i-th of those that are there.
  template <class T, class Value>
  void spread(T* to, std::size_t rows, std::size_t present, T missing, Value value) const noexcept {
    if (present == rows) {
      for (std::size_t i = 0; i < rows; ++i) to[i] = value(i);
    } else if (present == 0) {
      std::fill(to, to + rows, missing);
    } else {
      const std::size_t first = bits_.size() - rows;
      for (std::size_t i = 0, next = 0; i < rows; ++i) {
        const bool there = bits_[first + i];
        const T some = value(std::min(next, present - 1));
        to[i] = there ? some : missing;
        next += there;
      }
    }
  }

  std::size_t missing() const noexcept { return missing_; }
  Bits& bits() noexcept { return bits_; }  // a bit a row; none where all must be there

 private:
  const bool optional_;
  Runs levels_;
  Bits bits_;
  std::size_t missing_ = 0;
};

// What columns of texts and of numbers share: rows are taken from a page until it has no more.
template <class Self>
class ColumnBase {
 public:
  explicit ColumnBase(bool optional, const UnpackKernels& kernels = best_unpack_kernels()) noexcept
      : presence_(optional), kernels_(kernels) {}

  // `rows` rows are wanted now.
  Outcome begin(std::size_t rows) noexcept {
    wanted_ = rows;
    const bool room = presence_.begin(rows) && indices_.reserve(std::min(rows, kAtOnce) + kUnpackRoom) &&
                      self().make_room(rows);
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
      if (width > kWidest) return Outcome::damaged;
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
  const Byte* p_ = nullptr;  // values in PLAIN encoding that are not read yet
  const Byte* end_ = nullptr;
  std::size_t n_dictionary_ = 0;

  // The codes of rows of which `present` are there; false where one of them leads nowhere.
  bool read_codes(std::uint32_t* to, std::size_t rows, std::size_t present, std::uint32_t missing) noexcept {
    if (present == 0) {
      std::fill(to, to + rows, missing);
      return true;
    }
    std::uint32_t* const codes = present == rows ? to : indices_.data();
    if (!codes_.read(codes, present, kernels_) || kernels_.largest(codes, present) >= n_dictionary_)
      return false;
    if (present < rows) presence_.spread(codes, to, rows, missing, kernels_);
    return true;
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }

  // A page in which all is missing may have no codes, not even their width.
  Outcome presence_only() noexcept {
    codes_ = Runs(end_, end_, 0);
    return Outcome::done;
  }

  const UnpackKernels& kernels_;
  Array<std::uint32_t> indices_;
  Runs codes_;
  bool coded_ = false;
  std::size_t left_ = 0;    // rows of the page
  std::size_t wanted_ = 0;  // rows that are not there yet
};

// What is missing is NaN, or 0 where there is none.
template <class T>
class NumberColumn : public ColumnBase<NumberColumn<T>> {
  using Base = ColumnBase<NumberColumn<T>>;
  friend Base;

 public:
  using Base::Base;

  Outcome set_dictionary(const Byte* begin, const Byte* end, std::int64_t count) noexcept {
    if (count < 0 || static_cast<std::uint64_t>(count) > static_cast<std::uint64_t>(end - begin) / sizeof(T))
      return Outcome::damaged;
    if (dictionary_.data() != nullptr) return Outcome::damaged;  // codes so far are of another one
    this->n_dictionary_ = static_cast<std::size_t>(count);
    if (!dictionary_.reserve(this->n_dictionary_ + 1)) return Outcome::no_memory;
    if (count > 0) std::memcpy(dictionary_.data(), begin, this->n_dictionary_ * sizeof(T));
    dictionary_.data()[this->n_dictionary_] = kMissing;
    return Outcome::done;
  }

  Array<T>& values() noexcept { return values_; }

 private:
  static constexpr T kMissing = std::numeric_limits<T>::quiet_NaN();  // integers have none: 0

  bool make_room(std::size_t rows) noexcept {
    values_.set_size(0);
    return values_.reserve(rows + 1) && codes_.reserve(std::min(rows, Base::kAtOnce) + 1);
  }

  Outcome add_coded(std::size_t rows, std::size_t present) noexcept {
    T* const to = values_.data() + values_.size();
    if (present == 0) {
      std::fill(to, to + rows, kMissing);
    } else {
      const auto missing = static_cast<std::uint32_t>(this->n_dictionary_);
      if (!this->read_codes(codes_.data(), rows, present, missing)) return Outcome::damaged;
      for (std::size_t i = 0; i < rows; ++i) to[i] = dictionary_[codes_[i]];
    }
    values_.set_size(values_.size() + rows);
    return Outcome::done;
  }

  Outcome add_plain(std::size_t rows, std::size_t present) noexcept {
    const Byte* const p = this->p_;
    if (static_cast<std::size_t>(this->end_ - p) / sizeof(T) < present) return Outcome::damaged;
    this->presence_.spread(values_.data() + values_.size(), rows, present, kMissing, [=](std::size_t i) {
      T value;
      std::memcpy(&value, p + i * sizeof(T), sizeof(T));
      return value;
    });
    this->p_ += present * sizeof(T);
    values_.set_size(values_.size() + rows);
    return Outcome::done;
  }

  Array<T> dictionary_;  // and behind it what is missing
  Array<T> values_;
  Array<std::uint32_t> codes_;
};

class TextColumn : public ColumnBase<TextColumn> {
  friend ColumnBase<TextColumn>;

 public:
  // Features of the texts begin with `name`; whether their names are wanted.
  TextColumn(bool optional, std::string name, bool names,
             const UnpackKernels& kernels = best_unpack_kernels())
      : ColumnBase(optional, kernels), name_(std::move(name)), names_(names) {}

  Outcome set_dictionary(const Byte* begin, const Byte* end, std::int64_t count) noexcept {
    if (count < 0 || count > INT32_MAX || dictionary_ != nullptr) return Outcome::damaged;
    dictionary_.reset(new (std::nothrow) TextDictionary);
    if (dictionary_ == nullptr || !dictionary_->texts.clear()) return Outcome::no_memory;
    const Outcome outcome = dictionary_->texts.read(begin, end, static_cast<std::size_t>(count));
    if (outcome != Outcome::done) return outcome;
    if (!dictionary_->hash(name_, names_)) return Outcome::no_memory;
    n_dictionary_ = static_cast<std::size_t>(count);
    return Outcome::done;
  }

  // Of the last rows; below 0: missing.
  Array<std::int32_t>& codes() noexcept { return codes_; }

  // What their codes point into; null: no memory.
  std::shared_ptr<const TextDictionary> texts() noexcept {
    if (plain_.count() == 0 && dictionary_ != nullptr) return dictionary_;
    std::shared_ptr<TextDictionary> made(new (std::nothrow) TextDictionary);
    if (made == nullptr || !made->texts.clear()) return nullptr;
    if (mixed_ && n_dictionary_ > 0 && !made->start_with(*dictionary_)) return nullptr;
    return made->texts.append(plain_) && made->hash(name_, names_) ? made : nullptr;
  }

 private:
  bool make_room(std::size_t rows) noexcept {
    codes_.set_size(0);
    mixed_ = false;
    return plain_.clear() && codes_.reserve(rows + 1);
  }

  Outcome add_coded(std::size_t rows, std::size_t present) noexcept {
    if (!mixed_ && plain_.count() > 0) {  // they stood alone so far
      for (std::size_t i = 0; i < codes_.size(); ++i)
        if (codes_[i] >= 0) codes_.data()[i] += static_cast<std::int32_t>(n_dictionary_);
    }
    mixed_ = true;
    auto* const to = reinterpret_cast<std::uint32_t*>(codes_.data() + codes_.size());
    if (!read_codes(to, rows, present, kMissing)) return Outcome::damaged;
    codes_.set_size(codes_.size() + rows);
    return Outcome::done;
  }

  Outcome add_plain(std::size_t rows, std::size_t present) noexcept {
    const std::size_t first = (mixed_ ? n_dictionary_ : 0) + plain_.count();
    const Outcome outcome = plain_.read(p_, end_, present);
    if (outcome != Outcome::done) return outcome;
    if (n_dictionary_ + plain_.count() > INT32_MAX) return Outcome::damaged;
    presence_.spread(codes_.data() + codes_.size(), rows, present, std::int32_t{-1},
                     [=](std::size_t i) { return static_cast<std::int32_t>(first + i); });
    codes_.set_size(codes_.size() + rows);
    return Outcome::done;
  }

  static constexpr std::uint32_t kMissing = ~std::uint32_t{0};

  const std::string name_;
  const bool names_;
  std::shared_ptr<TextDictionary> dictionary_;
  TextList plain_;      // those of the last rows that have no dictionary
  bool mixed_ = false;  // whether others of these rows have one
  Array<std::int32_t> codes_;
};

}  // namespace riata::parquet
