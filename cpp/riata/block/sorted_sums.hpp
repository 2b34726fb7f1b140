// Rows of numbers by key, ascending, to which those of other such lists are added: in memory is the union, once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace riata {

// Some rows, by ascending key. Names, if there are any, lie one behind the other: that of row k from offsets[k] on.
struct SortedRows {
  std::size_t size;
  const std::int64_t* keys;
  const double* rows;
  const std::uint8_t* names;
  const std::int64_t* offsets;  // one more than there are rows; or null

  SortedRows from(std::size_t k, std::size_t count, std::size_t width) const noexcept {
    return {count, keys + k, rows + k * width, names, offsets == nullptr ? nullptr : offsets + k};
  }
  std::size_t length(std::size_t k) const noexcept {
    return offsets == nullptr ? 0 : static_cast<std::size_t>(offsets[k + 1] - offsets[k]);
  }
};

class SortedSums {
 public:
  explicit SortedSums(std::size_t width) : width_(width), leaves_(1) {}

  std::size_t width() const noexcept { return width_; }
  std::size_t size() const noexcept { return size_; }
  std::size_t name_bytes() const noexcept { return name_bytes_; }

  // Another list begins: what is added from now on starts again with small keys.
  void rewind() noexcept { at_ = 0; }

  // The next rows of a list, whose keys are above all that were added of it before. A key that is there keeps its name.
  void add(SortedRows more) {
    while (more.size > 0) {
      while (at_ + 1 < leaves_.size() && leaves_[at_ + 1].keys.front() <= more.keys[0]) ++at_;
      std::size_t count = more.size;
      if (at_ + 1 < leaves_.size()) {
        const std::int64_t end = leaves_[at_ + 1].keys.front();
        count = static_cast<std::size_t>(std::lower_bound(more.keys, more.keys + count, end) - more.keys);
      }
      join(leaves_[at_], more.from(0, count, width_));
      if (leaves_[at_].keys.size() > 2 * kLeaf) split();
      more = more.from(count, more.size - count, width_);
    }
  }

  // Each of these hands out one array of all rows, and forgets its own. Rows are most of the memory: now and then, `give_back` is
  // called, so that what was forgotten can go to the system.
  template <class GiveBack>
  void take_rows(double* out, GiveBack give_back) {
    std::size_t done = 0;
    for (Leaf& leaf : leaves_) {
      out = move_out(leaf.rows, out);
      if (++done % kLeavesAtOnce == 0) give_back();
    }
    give_back();
  }
  void take_names(std::uint8_t* out) {
    for (Leaf& leaf : leaves_) out = move_out(leaf.names, out);
  }
  void take_keys(std::int64_t* out) {
    for (Leaf& leaf : leaves_) out = move_out(leaf.keys, out);
  }
  void take_offsets(std::int64_t* out) {
    *out = 0;
    for (Leaf& leaf : leaves_) {
      for (const std::uint32_t length : leaf.lengths) {
        out[1] = out[0] + length;
        ++out;
      }
      leaf.lengths = {};
    }
  }

 private:
  // Neighbours, so few that making room among them moves little memory.
  struct Leaf {
    std::vector<std::int64_t> keys;
    std::vector<double> rows;
    std::vector<std::uint32_t> lengths;  // of names
    std::vector<std::uint8_t> names;
  };
  static constexpr std::size_t kLeaf = 1 << 13, kLeavesAtOnce = 16;

  template <class T>
  static T* move_out(std::vector<T>& from, T* out) {
    out = std::copy(from.begin(), from.end(), out);
    std::vector<T>().swap(from);
    return out;
  }

  void join(Leaf& leaf, const SortedRows& more) {
    std::size_t missing = 0, bytes = 0;
    for (std::size_t k = 0, j = 0; j < more.size; ++j) {
      while (k < leaf.keys.size() && leaf.keys[k] < more.keys[j]) ++k;
      if (k < leaf.keys.size() && leaf.keys[k] == more.keys[j]) {
        add_row(leaf.rows.data() + k * width_, more.rows + j * width_);
      } else {
        ++missing;
        bytes += more.length(j);
      }
    }
    if (missing > 0) leaf = with_missing(leaf, more, missing, bytes);
    size_ += missing;
    name_bytes_ += bytes;
  }

  // The leaf, whose sums are made, with the rows that it lacks.
  Leaf with_missing(const Leaf& leaf, const SortedRows& more, std::size_t missing, std::size_t bytes) const {
    Leaf made;
    made.keys.reserve(leaf.keys.size() + missing);
    made.rows.reserve((leaf.keys.size() + missing) * width_);
    made.lengths.reserve(leaf.keys.size() + missing);
    made.names.reserve(leaf.names.size() + bytes);
    const std::uint8_t* name = leaf.names.data();
    std::size_t k = 0;
    const auto keep_below = [&](std::size_t end) {  // own rows up to this one
      const std::uint8_t* const first = name;
      for (std::size_t i = k; i < end; ++i) name += leaf.lengths[i];
      made.keys.insert(made.keys.end(), leaf.keys.data() + k, leaf.keys.data() + end);
      made.rows.insert(made.rows.end(), leaf.rows.data() + k * width_, leaf.rows.data() + end * width_);
      made.lengths.insert(made.lengths.end(), leaf.lengths.data() + k, leaf.lengths.data() + end);
      made.names.insert(made.names.end(), first, name);
      k = end;
    };
    for (std::size_t j = 0; j < more.size; ++j) {
      std::size_t end = k;
      while (end < leaf.keys.size() && leaf.keys[end] < more.keys[j]) ++end;
      keep_below(end);
      if (k < leaf.keys.size() && leaf.keys[k] == more.keys[j]) continue;
      const std::size_t length = more.length(j);
      made.keys.push_back(more.keys[j]);
      made.rows.insert(made.rows.end(), more.rows + j * width_, more.rows + (j + 1) * width_);
      made.lengths.push_back(static_cast<std::uint32_t>(length));
      if (length > 0)
        made.names.insert(made.names.end(), more.names + more.offsets[j], more.names + more.offsets[j + 1]);
    }
    keep_below(leaf.keys.size());
    return made;
  }

  void add_row(double* to, const double* from) const noexcept {
    for (std::size_t j = 0; j < width_; ++j) to[j] += from[j];
  }

  // The leaf that has grown, as several.
  void split() {
    const Leaf whole = std::move(leaves_[at_]);
    std::vector<Leaf> parts;
    const std::uint8_t* name = whole.names.data();
    for (std::size_t first = 0; first < whole.keys.size(); first += kLeaf) {
      const std::size_t end = std::min(first + kLeaf, whole.keys.size());
      Leaf& part = parts.emplace_back();
      part.keys.assign(whole.keys.data() + first, whole.keys.data() + end);
      part.rows.assign(whole.rows.data() + first * width_, whole.rows.data() + end * width_);
      part.lengths.assign(whole.lengths.data() + first, whole.lengths.data() + end);
      const std::uint8_t* const from = name;
      for (const std::uint32_t length : part.lengths) name += length;
      part.names.assign(from, name);
    }
    leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(at_));
    leaves_.insert(leaves_.begin() + static_cast<std::ptrdiff_t>(at_), std::make_move_iterator(parts.begin()),
                   std::make_move_iterator(parts.end()));
  }

  std::size_t width_, size_ = 0, name_bytes_ = 0, at_ = 0;
  std::vector<Leaf> leaves_;  // by ascending keys; only the first may be empty
};

}  // namespace riata
