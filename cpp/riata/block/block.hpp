// A view of some rows of a sparse data set, as src/riata/block.py describes them. Owns nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "riata/block/name_list.hpp"

namespace riata {

template <class Index>  // std::int32_t or std::int64_t
struct BlockView {
  std::int64_t rows = 0;
  std::int64_t nnz = 0;  // length of indices and values
  const std::int64_t* indptr = nullptr;
  const Index* indices = nullptr;
  const float* values = nullptr;
  const double* labels = nullptr;   // may be null where only scores are wanted
  const double* weights = nullptr;  // may be null: all 1
  const char* names = nullptr;  // may be null; that of entry k is names[name_offsets[k], name_offsets[k + 1])
  const std::int64_t* name_offsets = nullptr;
  const std::string_view* scattered_names = nullptr;  // instead of both: one for each entry
  const NameListView* name_list = nullptr;            // instead: entry k has the name of name_numbers[k]
  const std::uint32_t* name_numbers = nullptr;
  const double* offsets = nullptr;  // may be null: all 0; added to the score of each row, not learned

  double offset(std::int64_t i) const noexcept { return offsets == nullptr ? 0 : offsets[i]; }

  bool named() const noexcept {
    return names != nullptr || scattered_names != nullptr || name_list != nullptr;
  }
  std::string_view name(std::int64_t k) const noexcept {
    if (scattered_names != nullptr) return scattered_names[k];
    if (name_list != nullptr) return name_list->name(name_numbers[k]);
    if (names == nullptr) return {};
    return {names + name_offsets[k], static_cast<std::size_t>(name_offsets[k + 1] - name_offsets[k])};
  }

  // Has entries that are soon needed come from memory: as many as row i has, some way behind it. Looking
  // beyond the end does no harm.
  void fetch_after(std::int64_t i) const noexcept {
    constexpr std::int64_t kAhead = 512, kStep = static_cast<std::int64_t>(64 / sizeof(Index));
    const std::int64_t begin = indptr[i + 1] + kAhead, end = begin + (indptr[i + 1] - indptr[i]);
    for (std::int64_t k = begin; k < end; k += 16) __builtin_prefetch(values + k);
    for (std::int64_t k = begin; k < end; k += kStep) __builtin_prefetch(indices + k);
  }

  // Row i lies inside the arrays, which may come from anywhere.
  bool holds(std::int64_t i) const noexcept {
    return i >= 0 && i < rows && indptr[i] >= 0 && indptr[i] <= indptr[i + 1] && indptr[i + 1] <= nnz;
  }
};

}  // namespace riata
