// The steps of AdaGrad in a bank: what is kept of an example between two loops over its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/bank/adagrad_columns.hpp"
#include "riata/bank/row.hpp"
#include "riata/linear/example.hpp"

namespace riata {

template <PenaltyKind kind>
class AdaGradSteps {
 public:
  AdaGradSteps(const BankLayout& layout, const AdaGradNumbers& numbers) noexcept
      : layout_(&layout), numbers_(&numbers) {}

  // For an example of so many features. False: memory is exhausted.
  bool make_room(std::int64_t nnz) noexcept {
    const std::int64_t parts = (layout_->width + 7) / 8;
    return at_least(current_, nnz * parts * 8 * layout_->groups) && at_least(rates_, nnz * parts * 8) &&
           at_least(missed_, nnz);
  }

  // The sums of weights, brought current, times the values that each group sees.
  void gather(const BankFeatures& of, const float* const* x, double* dot) noexcept {
    for (int g = 0; g < layout_->groups; ++g) {
      const int at = layout_->marks_at() + g;
      const double penalties = numbers_->penalties[static_cast<std::size_t>(g)];
      double* const missed = missed_.data();
      for (std::int64_t k = 0; k < of.n; ++k) missed[k] = penalties - of.rows[k][at];
      each_part(g, false, [&](const AdaGradPart& part, int nth) {
        kernels_.gather(columns(), part, entries(of, x[g]), kept(g, nth, of.n), dot);
      });
    }
  }
  // Roots with this example's gradients; how far scores move for a slope of one is added to `strengths`.
  void prepare(int g, const BankFeatures& of, const float* x, double factor, const double* slopes,
               double* strengths) noexcept {
    each_part(g, false, [&](const AdaGradPart& part, int nth) {
      kernels_.prepare(columns(), part, entries(of, x), slopes, factor, rates_.data() + 8 * nth * of.n,
                       strengths);
    });
  }
  // The weights of a group that was prepared just now.
  void push(int g, const BankFeatures& of, const float* x, const double* slopes, bool ends_period) noexcept {
    each_part(g, ends_period, [&](const AdaGradPart& part, int nth) {
      kernels_.push(columns(), part, entries(of, x), slopes, kept(g, nth, of.n),
                    rates_.data() + 8 * nth * of.n);
    });
    const int at = layout_->marks_at() + g;
    const double mark = numbers_->penalties[static_cast<std::size_t>(g)] + (ends_period ? 1 : 0);
    for (std::int64_t k = 0; k < of.n; ++k) of.rows[k][at] = mark;
  }
  // How many weights of each column are not zero.
  void count_live(const BankFeatures& of, const float* const* any, double* scratch,
                  std::int64_t* live) noexcept {
    gather(of, any, scratch);
    for (int g = 0; g < layout_->groups; ++g)
      each_part(g, false, [&](const AdaGradPart& part, int nth) {
        const double* const current = kept(g, nth, of.n);
        for (std::int64_t k = 0; k < of.n; ++k)
          for (int c = 0; c < part.have; ++c) live[part.at + c] += current[8 * k + c] != 0 ? 1 : 0;
      });
  }

 private:
  AdaGradColumns columns() const noexcept {
    const AdaGradNumbers& by = *numbers_;
    return {by.rates.data(), by.l1.data(), by.l2.data(), by.gravity.data(),
            by.theta.data(), by.period,    by.first,     layout_->columns()};
  }
  AdaGradEntries entries(const BankFeatures& of, const float* x) const noexcept {
    return {of.cells, missed_.data(), x, of.n};
  }
  // Eight columns of a group at a time, and those that are left.
  template <class Work>
  void each_part(int g, bool ends_period, const Work& work) const noexcept {
    const int width = layout_->width;
    for (int c = 0; c < width; c += 8)
      work(
          AdaGradPart{.at = g * width + c, .have = width - c < 8 ? width - c : 8, .ends_period = ends_period},
          c / 8);
  }
  double* kept(int g, int nth, std::int64_t n) noexcept {
    const std::int64_t parts = (layout_->width + 7) / 8;
    return current_.data() + (g * parts + nth) * 8 * n;
  }

  const BankLayout* layout_;
  const AdaGradNumbers* numbers_;
  const BankAdaGradKernels& kernels_ = best_bank_adagrad_kernels().of(kind);
  std::vector<double> current_, rates_;  // eight for each feature and part; rates of one group
  std::vector<double> missed_;           // of each feature
};

}  // namespace riata
