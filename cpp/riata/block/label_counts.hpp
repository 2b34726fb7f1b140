// How class codes follow one another in a stream: how often each class came, where its runs ended, and how often it came in
// each of at most 64 pieces of the stream. All pieces are of the same length, which doubles when they are full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace riata {

class LabelCounts {
 public:
  static constexpr std::int64_t kPieces = 64;
  static constexpr double kMostClasses = 1 << 24;

  // The next class codes: 0, 1, 2, ... False, with nothing counted, where one is no such number.
  bool add(const double* codes, std::int64_t n) {
    std::int64_t largest = 1;
    for (std::int64_t i = 0; i < n; ++i) {
      if (!(codes[i] >= 0 && codes[i] < kMostClasses)) return false;
      const auto code = static_cast<std::int64_t>(codes[i]);
      if (codes[i] != static_cast<double>(code)) return false;
      largest = std::max(largest, code);
    }
    make_room(static_cast<std::size_t>(largest) + 1);
    while (n > 0) {
      if (examples_ == kPieces * length_) double_length();
      const std::int64_t some = std::min(n, length_ - examples_ % length_);
      add_to_piece(codes, some);
      codes += some;
      n -= some;
    }
    return true;
  }

  std::int64_t examples() const noexcept { return examples_; }
  std::int64_t changes() const noexcept { return changes_; }           // labels that are not the one before
  std::int64_t run() const noexcept { return examples_ - run_from_; }  // how many at the end are of one class
  std::int64_t last() const noexcept { return last_; }                 // the last class code
  std::int64_t length() const noexcept { return length_; }             // examples of a piece
  std::size_t classes() const noexcept { return ended_.size(); }
  // How many runs of each class have ended.
  const std::vector<std::int64_t>& ended() const noexcept { return ended_; }
  // kPieces x classes
  const std::vector<std::int64_t>& pieces() const noexcept { return pieces_; }

 private:
  void make_room(std::size_t classes) {
    const std::size_t before = ended_.size();
    if (classes <= before) return;
    std::vector<std::int64_t> wider(static_cast<std::size_t>(kPieces) * classes);
    for (std::size_t piece = 0; piece < static_cast<std::size_t>(kPieces); ++piece)
      std::copy_n(pieces_.begin() + static_cast<std::ptrdiff_t>(piece * before), before,
                  wider.begin() + static_cast<std::ptrdiff_t>(piece * classes));
    ended_.resize(classes);
    pieces_ = std::move(wider);
  }

  // Two pieces become one; the second half of them is free again.
  void double_length() noexcept {
    const std::size_t k = ended_.size(), half = static_cast<std::size_t>(kPieces) / 2;
    for (std::size_t piece = 0; piece < half; ++piece)
      for (std::size_t c = 0; c < k; ++c)
        pieces_[piece * k + c] = pieces_[2 * piece * k + c] + pieces_[(2 * piece + 1) * k + c];
    std::fill(pieces_.begin() + static_cast<std::ptrdiff_t>(half * k), pieces_.end(), 0);
    length_ *= 2;
  }

  // No branch on whether the class changes: that cannot be predicted.
  void add_to_piece(const double* codes, std::int64_t n) noexcept {
    std::int64_t* const piece =
        pieces_.data() + static_cast<std::size_t>(examples_ / length_) * ended_.size();
    std::int64_t* const ended = ended_.data();
    std::int64_t last = examples_ == 0 ? static_cast<std::int64_t>(codes[0]) : last_;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto code = static_cast<std::int64_t>(codes[i]);
      const bool changed = code != last;
      changes_ += changed;
      ended[last] += changed;
      run_from_ = changed ? examples_ + i : run_from_;
      ++piece[code];
      last = code;
    }
    last_ = last;
    examples_ += n;
  }

  std::int64_t examples_ = 0, changes_ = 0, run_from_ = 0, last_ = 0, length_ = 1;
  std::vector<std::int64_t> ended_, pieces_;
};

}  // namespace riata
