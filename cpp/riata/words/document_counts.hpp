// In how many texts each n-gram was, learned on the way: rows are weighed by what was in the rows before them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/base/array.hpp"
#include "riata/base/random_word.hpp"
#include "riata/block/block.hpp"
#include "riata/simd/exp.hpp"

namespace riata::words {

struct WeighedColumn {
  std::string prefix;  // of the names of its n-grams
  bool idf = true, norm = true;
  std::uint64_t documents = 0;  // texts so far
};

// A table from the key of an n-gram to the number of texts that had it. It holds kMost n-grams at most: when it
// is full, those that were in the fewest texts are forgotten, until half of it is free.
class DocumentTable {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 22;
  explicit DocumentTable(std::size_t most = kMost) noexcept : most_(most) {}

  std::uint32_t count(std::int64_t key) const noexcept {
    return size_ == 0 ? 0 : slots_.data()[place(key)].count;
  }
  void prefetch(std::int64_t key) const noexcept {
    if (size_ > 0) __builtin_prefetch(slots_.data() + home(key));
  }
  // Room for so many n-grams more; false: no memory.
  bool reserve(std::size_t more) noexcept {
    if (size_ + more > most_) forget();
    const std::size_t need = 2 * (size_ + more);
    return need < mask_ || grow(need);
  }
  void add(std::int64_t key, std::uint32_t count = 1) noexcept {  // there is room for it
    Slot& slot = slots_.data()[place(key)];
    size_ += slot.count == 0;
    slot.key = key;
    slot.count += count <= ~slot.count ? count : 0;
  }
  std::size_t size() const noexcept { return size_; }
  void clear() noexcept {
    if (mask_ > 0) std::fill_n(slots_.data(), mask_ + 1, Slot{});
    size_ = 0;
  }
  // All of them, in the order of their keys.
  template <class Visit>
  void visit(Visit visit) const {
    std::vector<Slot> all;
    all.reserve(size_);
    for (std::size_t i = 0; mask_ > 0 && i <= mask_; ++i) {
      if (slots_[i].count > 0) all.push_back(slots_[i]);
    }
    std::sort(all.begin(), all.end(), [](const Slot& a, const Slot& b) { return a.key < b.key; });
    for (const Slot& slot : all) visit(slot.key, slot.count);
  }

 private:
  struct Slot {
    std::int64_t key;
    std::uint32_t count;  // 0: empty
  };

  std::size_t home(std::int64_t key) const noexcept {
    return hash_.home(static_cast<std::uint64_t>(key), shift_);
  }
  std::size_t place(std::int64_t key) const noexcept {
    std::size_t at = home(key);
    while (slots_.data()[at].count != 0 && slots_.data()[at].key != key) at = (at + 1) & mask_;
    return at;
  }

  bool grow(std::size_t need) noexcept {
    std::size_t wanted = 1024;
    while (wanted <= need) wanted *= 2;
    return rebuild(wanted, 1);
  }

  // A table of so many slots with the n-grams that were in `fewest` texts at least.
  bool rebuild(std::size_t wanted, std::uint32_t fewest) noexcept {
    Array<Slot> before = std::move(slots_);
    const std::size_t last = mask_;
    if (!slots_.reserve(wanted)) return slots_ = std::move(before), false;
    std::fill_n(slots_.data(), wanted, Slot{});
    mask_ = wanted - 1;
    shift_ = 64 - std::countr_zero(wanted);
    size_ = 0;
    for (std::size_t i = 0; last > 0 && i <= last; ++i) {
      if (before[i].count >= fewest) add(before[i].key, before[i].count);
    }
    return true;
  }

  void forget() noexcept {
    std::size_t by_count[256] = {};
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (slots_[i].count > 0) ++by_count[std::min<std::uint32_t>(slots_[i].count, 255)];
    }
    std::uint32_t fewest = 1;
    for (std::size_t left = size_; fewest < 255 && left > most_ / 2; ++fewest) left -= by_count[fewest];
    rebuild(mask_ + 1, fewest);
  }

  const std::size_t most_;
  std::size_t size_ = 0, mask_ = 0;
  int shift_ = 0;
  SecretHash hash_ = SecretHash::of_process();
  Array<Slot> slots_;
};

class DocumentCounts {
 public:
  explicit DocumentCounts(std::vector<WeighedColumn> columns, std::size_t most = DocumentTable::kMost)
      : columns_(std::move(columns)), table_(most) {
    for (std::size_t c = 0; c < columns_.size(); ++c) order_.push_back(c);
    // The longest first: `a^b^` before `a^`.
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
      return columns_[a].prefix.size() > columns_[b].prefix.size();
    });
  }

  // Multiplies the values of n-grams in the rows of a Block, each by what was before it, and counts the row unless
  // told not to. False: no memory; rows before it are done.
  bool weigh(const BlockView<std::int64_t>& block, float* values, bool learn) noexcept {
    Array<std::uint32_t> in_row;  // entries that are n-grams, by column
    Array<std::uint32_t> columns;
    for (std::int64_t i = 0; i < block.rows; ++i) {
      in_row.set_size(0);
      columns.set_size(0);
      for (std::int64_t k = block.indptr[i]; k < block.indptr[i + 1]; ++k) {
        const std::size_t column = column_of(block.name(k));
        if (column == columns_.size()) continue;
        table_.prefetch(block.indices[k]);
        const auto entry = static_cast<std::uint32_t>(k - block.indptr[i]);
        if (!in_row.push_back(entry) || !columns.push_back(static_cast<std::uint32_t>(column))) return false;
      }
      if (!weigh_row(block.indices + block.indptr[i], values + block.indptr[i], in_row, columns, learn))
        return false;
    }
    return true;
  }

  void clear() noexcept {
    table_.clear();
    for (WeighedColumn& column : columns_) column.documents = 0;
  }
  DocumentTable& table() noexcept { return table_; }
  const DocumentTable& table() const noexcept { return table_; }
  std::vector<WeighedColumn>& columns() noexcept { return columns_; }
  const std::vector<WeighedColumn>& columns() const noexcept { return columns_; }

 private:
  std::size_t column_of(std::string_view name) const noexcept {
    for (const std::size_t c : order_) {
      const std::string& prefix = columns_[c].prefix;
      if (name.size() > prefix.size() && std::memcmp(name.data(), prefix.data(), prefix.size()) == 0)
        return c;
    }
    return columns_.size();
  }

  bool weigh_row(const std::int64_t* keys, float* values, const Array<std::uint32_t>& entries,
                 const Array<std::uint32_t>& columns, bool learn) noexcept {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      WeighedColumn& column = columns_[c];
      double squares = 0;
      bool any = false;
      const double all = static_cast<double>(1 + column.documents);
      for (std::size_t k = 0; k < entries.size(); ++k) {
        if (columns[k] != c) continue;
        float& value = values[entries[k]];
        any = true;
        if (column.idf) {
          const double with = 1 + static_cast<double>(table_.count(keys[entries[k]]));
          value = static_cast<float>(value * (1 + riata::log(std::max(1.0, all / with))));
        }
        squares += static_cast<double>(value) * value;
      }
      if (!any) continue;
      const double length = column.norm ? std::sqrt(squares) : 1;
      for (std::size_t k = 0; column.norm && k < entries.size(); ++k) {
        if (columns[k] == c) values[entries[k]] = static_cast<float>(values[entries[k]] / length);
      }
      if (!learn || !column.idf) continue;
      ++column.documents;
    }
    if (!learn) return true;
    if (!table_.reserve(entries.size())) return false;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (columns_[columns[k]].idf) table_.add(keys[entries[k]]);
    }
    return true;
  }

  std::vector<WeighedColumn> columns_;
  std::vector<std::size_t> order_;
  DocumentTable table_;
};

}  // namespace riata::words
