// A row of a bank, as the rows of an example (linear/example_rows.hpp) and the table see it.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/bank/cells.hpp"
#include "riata/linear/decay.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/rules/adagrad_step.hpp"

namespace riata {

// A row holds the number of its cells, a mark for each group, and where values are scaled what is known of the values that
// each group has learned. The cells are `groups` times `width` weights, and with AdaGrad as many roots of sums of squared
// gradients.
struct BankLayout {
  int groups = 0, width = 0;
  bool roots = false, scaled = false;

  int columns() const noexcept { return groups * width; }
  int cells() const noexcept { return roots ? 2 * columns() : columns(); }
  static constexpr int marks_at() noexcept { return 1; }
  int sums_at() const noexcept { return marks_at() + groups; }
  int sums() const noexcept { return scaled ? kScaleSums * groups : 0; }
  int words() const noexcept { return sums_at() + sums(); }

  // Whether any group has met the feature.
  bool any_sums(const double* row) const noexcept {
    for (int at = sums_at(); at < words(); at += kScaleSums)
      if (row[at] != 0) return true;
    return false;
  }
};

// Some features: of each its row and its cells.
struct BankFeatures {
  double* const* rows;
  double* const* cells;
  std::int64_t n;
};

// What both kinds of rows are to those who find them.
struct AnyBankRow {
  static constexpr DecayKind kDecay = DecayKind::none;
  static constexpr int width(int words) noexcept { return words; }
  static Decay decay() noexcept { return {}; }
  static void init(double* row, int words) noexcept {
    for (int c = 0; c < words; ++c) row[c] = 0;
  }
};

// The running scalars of some groups as they were at earlier steps, and those of now.
struct BankHistory {
  std::vector<double> now, theta;           // of each column
  std::vector<std::vector<double>> before;  // of each group: entries of as many as it has columns
  std::vector<const double*> starts;        // of each
};

// With a schedule. A mark is the place in the history of its group where the running scalars of the last touch are.
template <DecayKind kind>
class ScheduleRow : public AnyBankRow {
 public:
  ScheduleRow(const BankLayout& layout, const BankCells& cells, const BankHistory& history) noexcept
      : layout_(&layout), cells_(&cells), history_(&history) {}

  // The running scalars of a group at the last touch. Places that do not exist may stand where no row is.
  const double* marks(const double* row, int g) const noexcept {
    const std::size_t group = static_cast<std::size_t>(g), width = static_cast<std::size_t>(layout_->width);
    const double place = row[layout_->marks_at() + g];
    const auto entries = static_cast<double>(history_->before[group].size() / width);
    const std::size_t at = place >= 0 && place < entries ? static_cast<std::size_t>(place) : 0;
    return history_->starts[group] + at * width;
  }
  // The weight of a column, brought current.
  double current(const double* cells, int g, int c, const double* marks) const noexcept {
    const auto k = static_cast<std::size_t>(g * layout_->width + c);
    return decayed<kind>(Decay{history_->now[k], history_->theta[k]}, cells[k], marks[c]);
  }
  // Whether a model of these columns of a group alone would have the row, and its mark there.
  bool has(const double* row, int g, int first, int m) const noexcept {
    const double *const cells = cells_->of(row[0]), *const at = marks(row, g);
    for (int c = first; c < first + m; ++c)
      if (current(cells, g, c, at) != 0) return true;
    return false;
  }
  double mark(const double* row, int g, int c) const noexcept { return marks(row, g)[c]; }

  bool is_live(const double* row, int) const noexcept {
    if (layout_->any_sums(row)) return true;
    for (int g = 0; g < layout_->groups; ++g)
      if (has(row, g, 0, layout_->width)) return true;
    return false;
  }

 private:
  const BankLayout* layout_;
  const BankCells* cells_;
  const BankHistory* history_;
};

// What AdaGrad's columns are brought current by.
struct AdaGradNumbers {
  std::vector<double> rates, l1, l2, gravity, theta;  // of each column
  double period = 1, first = 1;                       // first: what roots start with
  std::vector<double> penalties;                      // of each group, how many there have been
};

// With AdaGrad. A mark is how many penalties a row has had.
template <PenaltyKind kind>
class AdaGradRow : public AnyBankRow {
 public:
  AdaGradRow(const BankLayout& layout, const BankCells& cells, const AdaGradNumbers& numbers) noexcept
      : layout_(&layout), cells_(&cells), numbers_(&numbers) {}

  const double* marks(const double* row, int g) const noexcept { return row + layout_->marks_at() + g; }
  double current(const double* cells, int g, int c, const double* marks) const noexcept {
    const AdaGradNumbers& by = *numbers_;
    const auto k = static_cast<std::size_t>(g * layout_->width + c);
    const AdaGradPenalty penalty{by.l1[k], by.l2[k], by.gravity[k], by.theta[k], by.period};
    const double missed = by.penalties[static_cast<std::size_t>(g)] - *marks;
    return adagrad_current<kind, double>(penalty, by.rates[k], cells[k], cells[k + roots()], missed);
  }
  bool has(const double* row, int g, int first, int m) const noexcept {
    const double* const at =
        cells_->of(row[0]) + roots() + static_cast<std::size_t>(g * layout_->width + first);
    for (int c = 0; c < m; ++c)
      if (at[c] != 0) return true;
    return false;
  }
  double mark(const double* row, int g, int) const noexcept { return *marks(row, g); }

  bool is_live(const double* row, int) const noexcept {
    return layout_->any_sums(row) || has(row, 0, 0, layout_->columns());
  }

 private:
  std::size_t roots() const noexcept { return static_cast<std::size_t>(layout_->columns()); }
  const BankLayout* layout_;
  const BankCells* cells_;
  const AdaGradNumbers* numbers_;
};

}  // namespace riata
