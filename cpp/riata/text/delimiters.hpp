// Where the words, cells and lines of a text end: the places of its delimiters, found 64 bytes at a time, some
// thousand bytes ahead of the reader.
//
// A reader that walks along such a list knows where the next word ends before it has looked at this one, and
// nothing that depends on the length of a word is left for the processor to guess.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "riata/base/array.hpp"
#include "riata/text/delimiter_kernels.hpp"
#include "riata/text/number.hpp"

namespace riata {

// The next delimiters of a text, behind which kPadding bytes can be read.
class DelimiterScan {
 public:
  // With `names`, name_ends() and values() are known, too.
  DelimiterScan(const char* text, std::size_t size, const Delimiters& which, bool names = false,
                const DelimiterKernels& kernels = best_delimiter_kernels()) noexcept
      : text_(text),
        size_(size),
        which_(which),
        names_(names),
        find_(names ? kernels.find_names : kernels.find) {}

  // Places have 32 bits.
  static bool possible(std::size_t size) noexcept { return size < std::size_t{1} << 31; }

  // Finds more until `count` are there; false at the end of the text, or where there is no memory.
  bool need(std::size_t count) noexcept {
    while (last_ - first_ < count) {
      if (!find_more()) return false;
    }
    return true;
  }

  // The next delimiters, ascending, and how many are known. Before them is the one passed over last, or -1.
  std::uint32_t* places() noexcept { return places_.data() + first_; }
  std::size_t count() const noexcept { return last_ - first_; }
  // How many of them come before the next break.
  std::size_t before_break() const noexcept {
    return first_break_ < last_break_ ? breaks_[first_break_] - dropped_ - first_ : count();
  }
  // Behind each of them stands a word, whose name ends at its first colon or else where the word does, and the
  // byte behind that: the first of its value. So each word has two places, whatever is in it.
  const std::uint32_t* name_ends() const noexcept { return name_ends_.data() + first_; }
  const char* values() const noexcept { return values_.data() + first_; }

  void pass(std::size_t count) noexcept {
    first_ += count;
    while (first_break_ < last_break_ && breaks_[first_break_] < dropped_ + first_) ++first_break_;
  }
  // Passes over all before this byte of the text.
  void pass_to(std::size_t place) noexcept {
    do {
      std::size_t count = 0;
      while (first_ + count < last_ && places_[first_ + count] < place) ++count;
      pass(count);
    } while (first_ == last_ && find_more());
  }

 private:
  static constexpr std::size_t kWindow = 4096;
  static_assert(kPadding >= 64);

  // Looks at the next window, once there is room for what it may hold behind what is left of the lists.
  bool find_more() noexcept {
    if (scanned_ >= size_) return false;
    const std::size_t room = last_ - first_ + 1 + kWindow + kDelimiterSlack;
    const bool reserved = reserve(places_, room) && reserve(breaks_, room) &&
                          (!names_ || (reserve(name_ends_, room) && reserve(values_, room)));
    if (!reserved) return false;
    drop_passed();
    const std::size_t end = std::min(scanned_ + kWindow, (size_ + 63) / 64 * 64);
    const auto count = static_cast<std::uint32_t>(dropped_ + last_);
    const DelimiterLists found = find_(text_, scanned_, end, which_,
                                       {places_.data() + last_, breaks_.data() + last_break_, count,
                                        names_ ? name_ends_.data() + n_names_ : nullptr,
                                        names_ ? values_.data() + n_names_ : nullptr, n_names_ < last_});
    scanned_ = end;
    last_ = static_cast<std::size_t>(found.places - places_.data());
    last_break_ = static_cast<std::size_t>(found.breaks - breaks_.data());
    if (names_) n_names_ = static_cast<std::size_t>(found.name_ends - name_ends_.data());
    while (last_ > 1 && scanned_ >= size_ && places_[last_ - 1] >= size_) --last_;  // behind the text
    while (last_break_ > 0 && breaks_[last_break_ - 1] >= dropped_ + last_) --last_break_;
    return true;
  }

  template <class T>
  static bool reserve(Array<T>& list, std::size_t room) noexcept {
    list.set_size(list.capacity());
    return list.reserve(room);
  }

  // What was passed over leaves the lists, but for the last.
  void drop_passed() noexcept {
    const std::size_t drop = first_ - 1;
    if (dropped_ == 0 && last_ == 1) places_.data()[0] = ~std::uint32_t{0};
    std::copy(places_.data() + drop, places_.data() + last_, places_.data());
    std::copy(breaks_.data() + first_break_, breaks_.data() + last_break_, breaks_.data());
    if (names_) {
      n_names_ = std::max(n_names_, drop);
      std::copy(name_ends_.data() + drop, name_ends_.data() + n_names_, name_ends_.data());
      std::copy(values_.data() + drop, values_.data() + n_names_, values_.data());
      n_names_ -= drop;
    }
    dropped_ += drop;
    last_ -= drop;
    first_ = 1;
    last_break_ -= first_break_;
    first_break_ = 0;
  }

  const char* const text_;
  const std::size_t size_;
  const Delimiters which_;
  const bool names_;
  const DelimiterKernels::Find find_;
  std::size_t scanned_ = 0;           // bytes looked at
  std::size_t dropped_ = 0;           // delimiters that are no longer in the lists
  std::size_t first_ = 1, last_ = 1;  // those that are and were not passed over; one more stands before them
  std::size_t first_break_ = 0, last_break_ = 0;
  std::size_t n_names_ = 1;  // in the lists; one less than delimiters where one is open
  Array<std::uint32_t> places_, breaks_, name_ends_;
  Array<char> values_;
};

}  // namespace riata
