// What the scores of many settings come to: check the arrays, release the GIL, call.
#include "riata/bank/tally.hpp"

#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "bind/arrays.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/losses/log_loss.hpp"

namespace riata::bind {

namespace {

template <class T>
using Written2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Labels of 1 are 1, all others -1.
std::vector<double> signs(const In2<double>& scores, const In<double>& labels) {
  if (labels.size() != scores.shape(1)) throw nb::value_error("scores and labels differ in length");
  std::vector<double> out(labels.size());
  std::transform(labels.data(), labels.data() + labels.size(), out.begin(),
                 [](double label) { return label == 1 ? 1.0 : -1.0; });
  return out;
}

// work(s, scores, out) for every setting s.
template <class Work>
Out2<double> each_setting(const In2<double>& scores, Work work) {
  const std::size_t n = scores.shape(1);
  NewArray<double> out(scores.size());
  {
    nb::gil_scoped_release nogil;
    parallel_for(static_cast<std::int64_t>(scores.shape(0)), 4, [&](std::int64_t from, std::int64_t to) {
      for (auto s = static_cast<std::size_t>(from); s < static_cast<std::size_t>(to); ++s)
        work(s, scores.data() + s * n, out.get() + s * n);
    });
  }
  double* const p = out.get();
  return Out2<double>(p, {scores.shape(0), n}, out.release_owner());
}

Out2<double> log_losses(const In2<double>& scores, const In<double>& labels) {
  if (labels.size() != scores.shape(1)) throw nb::value_error("scores and labels differ in length");
  const LogLossKernels& kernels = best_log_loss_kernels();
  const auto n = static_cast<std::int64_t>(scores.shape(1));
  return each_setting(scores, [&](std::size_t, const double* own, double* out) {
    kernels.losses(n, own, labels.data(), out);
  });
}

// Histograms of a setting, as wide as the arrays they lie in.
struct Histograms {
  double *positives, *negatives, *weights, *predicted, *observed, *correct;
  std::size_t bins, wide;
};

void add(const Histograms& to, std::size_t n, const double* scores, const double* y, const double* weights,
         const double* chances, const double* places) noexcept {
  const auto within = [](double place, std::size_t bins) {
    return std::min(static_cast<std::size_t>(std::max(place, 0.0)), bins - 1);
  };
  for (std::size_t i = 0; i < n; ++i) {
    const double w = weights == nullptr ? 1 : weights[i];
    const bool positive = y[i] > 0;
    (positive ? to.positives : to.negatives)[within(places[i], to.bins)] += w;
    const std::size_t bin = within(chances[i] * static_cast<double>(to.wide), to.wide);
    to.weights[bin] += w;
    to.predicted[bin] += w * chances[i];
    to.observed[bin] += positive ? w : 0;
    *to.correct += positive == (scores[i] > 0) ? w : 0;
  }
}

Out2<double> tally_log_odds(const In2<double>& scores, const In<double>& labels,
                            const std::optional<In<double>>& weights, double smallest,
                            Written2<double> positives, Written2<double> negatives,
                            nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu> calibration,
                            nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> correct) {
  const std::vector<double> y = signs(scores, labels);
  const std::size_t settings = scores.shape(0), n = scores.shape(1), bins = positives.shape(1);
  const std::size_t wide = calibration.shape(2);
  if (positives.shape(0) != settings || negatives.shape(0) != settings || negatives.shape(1) != bins ||
      calibration.shape(0) != 3 || calibration.shape(1) != settings || correct.size() != settings ||
      bins == 0 || wide == 0 || (weights && weights->size() != n))
    throw nb::value_error("arrays of another shape");
  const TallyKernels& kernels = best_tally_kernels();
  const NewArray<double> scratch(2 * scores.size());
  return each_setting(scores, [&](std::size_t s, const double* own, double* out) {
    double *const chances = scratch.get() + 2 * s * n, *const places = chances + n;
    kernels.look(static_cast<std::int64_t>(n), own, y.data(), smallest, static_cast<double>(bins), chances,
                 out, places);
    double* const counts = calibration.data() + s * wide;
    const std::size_t next = settings * wide;
    add({positives.data() + s * bins, negatives.data() + s * bins, counts, counts + next, counts + 2 * next,
         correct.data() + s, bins, wide},
        n, own, y.data(), weights ? weights->data() : nullptr, chances, places);
  });
}

}  // namespace

void bind_tally(nb::module_& m) {
  m.def("log_losses", &log_losses, nb::arg("scores"), nb::arg("labels"),
        "The log loss of every score of every setting, (settings, n); labels are 1 or something else.");
  m.def("tally_log_odds", &tally_log_odds, nb::arg("scores"), nb::arg("labels"), nb::arg("weights").none(),
        nb::arg("smallest"), nb::arg("positives"), nb::arg("negatives"), nb::arg("calibration"),
        nb::arg("correct"),
        "The log losses, no chance counting as less than `smallest`; histograms and counts are added to.");
}

}  // namespace riata::bind
