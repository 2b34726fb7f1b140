// A row of a bank, as the rows of an example (linear/example_rows.hpp) and the table see it.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/linear/decay.hpp"

namespace riata {

// The running scalars of some groups as they were at earlier steps, and those of now.
struct BankHistory {
  int groups = 0, width = 0;
  std::vector<double> now, theta;           // groups x width
  std::vector<std::vector<double>> before;  // of each group: entries of `width`
  std::vector<const double*> starts;        // of each
  std::int64_t entries(int g) const noexcept {
    return static_cast<std::int64_t>(before[static_cast<std::size_t>(g)].size()) / width;
  }
};

template <DecayKind kind>
class BankRow {
 public:
  explicit BankRow(const BankHistory& history) noexcept : history_(&history) {}

  static constexpr DecayKind kDecay = DecayKind::none;
  static constexpr int width(int words) noexcept { return words; }
  static Decay decay() noexcept { return {}; }
  void init(double* row, int words) const noexcept {
    for (int c = 0; c < words; ++c) row[c] = 0;
  }
  // The running scalars of a group at the last touch. Places that do not exist may stand where no row is.
  const double* marks(const double* row, int g) const noexcept {
    const BankHistory& by = *history_;
    const double place = row[by.groups * by.width + g];
    const auto entries = static_cast<double>(by.entries(g));
    const auto at = place >= 0 && place < entries ? static_cast<std::int64_t>(place) : 0;
    return by.starts[static_cast<std::size_t>(g)] + at * by.width;
  }
  // The weight of a column, brought current.
  double current(const double* row, int g, int c, const double* marks) const noexcept {
    const auto k = static_cast<std::size_t>(g * history_->width + c);
    return decayed<kind>(Decay{history_->now[k], history_->theta[k]}, row[k], marks[c]);
  }
  double current(const double* row, int g, int c) const noexcept { return current(row, g, c, marks(row, g)); }
  double mark(const double* row, int g, int c) const noexcept {
    const auto at = static_cast<std::int64_t>(row[history_->groups * history_->width + g]);
    return history_->starts[static_cast<std::size_t>(g)][at * history_->width + c];
  }
  bool is_live(const double* row, int) const noexcept {
    for (int g = 0; g < history_->groups; ++g) {
      const double* const at = marks(row, g);
      for (int c = 0; c < history_->width; ++c)
        if (current(row, g, c, at) != 0) return true;
    }
    return false;
  }

 private:
  const BankHistory* history_;
};

}  // namespace riata
