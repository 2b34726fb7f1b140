// Averaging members by how well each has predicted, and telling which of them can go.
//
// What a member says is corrected first, by how it did so far: a times its log odds plus c (single.hpp), so that one who
// ranks well and is too sure of itself, or not sure enough, is judged by what it knows.
//
// Bayes' rule: after every example a member's weight is multiplied by the chance it had given to the label, to the
// power of the example's weight. Then a share of 1 / (t + 1) of all weight is spread evenly (Herbster & Warmuth 1998,
// with a share that falls), so that a member that becomes the best one later is soon found. In total the average
// loses at most ln(N) + ln(t + 1) to the best of N members, and at most ln(N) + ln(t + 1) more for every change
// between members: no rate had to be chosen for that.
//
// Epochs end with examples 1024, 2048, 4096, ... A member is dropped at the end of one if, for every output,
//   - in this epoch alone, and in the one before, the average gave the labels at least 1e12 times the chance that the
//     member gave. Were the member right, such a ratio would be seen at any time with a chance of 1e-12 at most
//     (Ville's inequality for the likelihood ratio, a martingale under the member's own predictions);
//   - the gap, in nats, was no smaller in this epoch than in the one before: it does not catch up;
//   - without it, the average would have lost no more in this epoch: its `worth` is not above zero. The average may be
//     better than each of its members, and a member that is right where all others are wrong is of use to it;
//   - its weight was at most 1/100 in the mean over the epoch, so that those who go together are of no use together.
// The member that lost least in an epoch stays in any case, and one of those that learn weights one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "riata/losses/loss.hpp"
#include "riata/portfolio/kernels.hpp"
#include "riata/portfolio/single.hpp"

namespace riata {

struct Evidence {
  static constexpr std::uint64_t kFirstEpoch = 1024;
  static constexpr double kGap = 27.631021115928547;  // ln(1e12)
  static constexpr double kClaim = 1e-2;

  // outputs x members each
  std::vector<double> weights;  // those of an output add up to one
  std::vector<double> losses;   // since the start
  std::vector<double> recent;   // in this epoch
  std::vector<double> claims;   // sum of weights in this epoch
  std::vector<double> worth;    // what the average would have lost more without it, in this epoch
  std::vector<double> gaps;     // of the epoch before: losses less the average's
  // outputs x 2: losses of the average, since the start and in this epoch
  std::vector<double> totals;
  std::vector<double> corrections;  // outputs x members x Single::kWidth

  Evidence(int outputs, int members)
      : outputs_(outputs), n_(members), lost_(static_cast<std::size_t>(members)) {
    const auto all = static_cast<std::size_t>(outputs) * static_cast<std::size_t>(members);
    weights.assign(all, 1.0 / members);
    for (std::vector<double>* each : {&losses, &recent, &claims, &worth, &gaps}) each->assign(all, 0.0);
    totals.assign(2 * static_cast<std::size_t>(outputs), 0.0);
    corrections.assign(Single::kWidth * all, 0.0);
  }

  int members() const noexcept { return n_; }

  // The log odds that the average gives to output o.
  double predict(int o, const double* scores) const noexcept {
    double sums[2];
    kernels_.average(n_, scores, weights.data() + o * n_, sums);
    return riata::log(sums[0]) - riata::log(sums[1]);
  }

  // The label of output o becomes known, +1 or -1, in example t = 1, 2, ...; `score` is what predict() said.
  void learn(int o, const double* scores, double score, double y, double weight, std::uint64_t t) noexcept {
    double *w = weights.data() + o * n_, *all = losses.data() + o * n_, *now = recent.data() + o * n_,
           *claim = claims.data() + o * n_;
    kernels_.losses(n_, scores, y, lost_.data());
    const double best = *std::min_element(lost_.begin(), lost_.end());
    const double share = 1 / (static_cast<double>(t) + 1), even = share / n_;
    for (int c = 0; c < n_; ++c) {
      claim[c] += w[c];
      all[c] += weight * lost_[c];
      now[c] += weight * lost_[c];
    }
    const double lost = softplus(-y * score);
    if (n_ > 1) kernels_.credit(n_, lost_.data(), w, lost, weight, worth.data() + o * n_);
    const double keep = (1 - share) / kernels_.reweigh(n_, lost_.data(), best, weight, w);
    for (int c = 0; c < n_; ++c) w[c] = keep * w[c] + even;
    totals[2 * o] += weight * lost;
    totals[2 * o + 1] += weight * lost;
  }

  static bool ends(std::uint64_t t) noexcept { return t >= kFirstEpoch && (t & (t - 1)) == 0; }

  // An epoch has ended with example t: which members stay. One of the first `some` does in any case.
  std::vector<int> survivors(std::uint64_t t, int some) const {
    std::vector<int> out;
    const double most = kClaim * static_cast<double>(t / 2);
    for (int c = 0; c < n_; ++c)
      if (!hopeless(c, most) || leads(c, n_) || (c < some && leads(c, some) && all_hopeless(some, most)))
        out.push_back(c);
    return out;
  }
  void next_epoch() noexcept {
    for (int o = 0; o < outputs_; ++o)
      for (int c = 0; c < n_; ++c) gaps[o * n_ + c] = recent[o * n_ + c] - totals[2 * o + 1];
    std::fill(recent.begin(), recent.end(), 0.0);
    std::fill(claims.begin(), claims.end(), 0.0);
    std::fill(worth.begin(), worth.end(), 0.0);
    for (int o = 0; o < outputs_; ++o) totals[2 * o + 1] = 0;
  }

  void keep_only(const std::vector<int>& members) {
    for (std::vector<double>* each : {&weights, &losses, &recent, &claims, &worth, &gaps}) {
      std::vector<double> kept;
      for (int o = 0; o < outputs_; ++o)
        for (const int c : members) kept.push_back((*each)[o * n_ + c]);
      *each = std::move(kept);
    }
    std::vector<double> kept;
    for (int o = 0; o < outputs_; ++o)
      for (const int c : members) {
        const auto from = corrections.begin() + (o * n_ + c) * Single::kWidth;
        kept.insert(kept.end(), from, from + Single::kWidth);
      }
    corrections = std::move(kept);
    n_ = static_cast<int>(members.size());
    lost_.resize(members.size());
    for (int o = 0; o < outputs_; ++o) {
      double total = 0;
      for (int c = 0; c < n_; ++c) total += weights[o * n_ + c];
      for (int c = 0; c < n_; ++c) weights[o * n_ + c] /= total;
    }
  }

 private:
  bool hopeless(int c, double most) const noexcept {
    for (int o = 0; o < outputs_; ++o) {
      const int at = o * n_ + c;
      const double gap = recent[at] - totals[2 * o + 1];
      if (!(gaps[at] >= kGap && gap >= gaps[at] && worth[at] <= 0 && claims[at] <= most)) return false;
    }
    return true;
  }

  // Whether it lost least of the first so many, for any output.
  bool leads(int c, int of_the_first) const noexcept {
    for (int o = 0; o < outputs_; ++o) {
      const double* of = recent.data() + o * n_;
      if (std::min_element(of, of + of_the_first) - of == c) return true;
    }
    return false;
  }
  bool all_hopeless(int first, double most) const noexcept {
    for (int c = 0; c < first; ++c)
      if (!hopeless(c, most)) return false;
    return true;
  }

  int outputs_, n_;
  std::vector<double> lost_;
  const PortfolioKernels& kernels_ = best_portfolio_kernels();
};

}  // namespace riata
