// Bayesian models: check the arrays, release the GIL, call.
#include "riata/bayesian/bayesian.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/unordered_map.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <optional>
#include <string>
#include <tuple>

#include "bind/block_view.hpp"
#include "bind/model.hpp"
#include "riata/bayesian/calibration.hpp"
#include "riata/bayesian/steps.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/losses/loss.hpp"

namespace riata::bind {

namespace {

std::unique_ptr<Bayesian> make(const std::string& store, const std::string& update, const std::string& link,
                               const std::string& mean, const std::string& variance,
                               const std::vector<double>& prior_variances,
                               const std::vector<std::string>& views, double prior_mean,
                               double intercept_variance, bool fit_intercept, double half_life, double share,
                               int outputs, int samples, std::uint64_t seed, int bits, bool own_priors,
                               bool ignore_unseen,
                               const std::unordered_map<std::string, double>& named_variances) {
  const double columns = static_cast<double>(outputs) * static_cast<double>(views.size()) *
                         static_cast<double>(prior_variances.size());
  if (!(outputs >= 1 && columns >= 1 && columns <= 1 << 24))
    throw nb::value_error("a model has at least one column, and at most 2^24");
  if (bits < 1 || bits > 32) throw nb::value_error("bits must be 1 to 32");
  if (samples < 0 || samples > 1 << 20 || (update == "vb" && samples < 1))
    throw nb::value_error("vb needs at least one sample, and takes at most 2^20");
  BayesianSpec spec;
  spec.update = update;
  spec.link = link;
  spec.mean = mean;
  spec.variance = variance;
  spec.prior_variances = prior_variances;
  spec.views.clear();
  for (const std::string& view : views) {
    if (view != "raw" && view != "binary" && view != "log1p") throw nb::value_error("unknown view");
    spec.views.push_back(view == "raw" ? View::raw : view == "binary" ? View::binary : View::log1p);
  }
  spec.prior_mean = prior_mean;
  spec.intercept_variance = intercept_variance;
  spec.fit_intercept = fit_intercept;
  spec.half_life = half_life;
  spec.share = share;
  spec.outputs = outputs;
  spec.samples = update == "vb" ? samples : 0;
  spec.seed = seed;
  spec.bits = bits;
  spec.own_priors = own_priors || !named_variances.empty();
  spec.ignore_unseen = ignore_unseen;
  spec.named_variances = named_variances;
  std::unique_ptr<Bayesian> model = make_bayesian(store, spec);
  if (model == nullptr) throw nb::value_error("unknown update, link or store");
  return model;
}

void check_outputs(const Bayesian& model, std::size_t outputs) {
  if (outputs == 0 || model.log_evidence.size() % outputs != 0)
    throw nb::value_error("another number of outputs");
}

template <class Index>
Out2<double> learn(Bayesian& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const In<double>& labels,
                   const std::optional<In<double>>& weights, const std::optional<In<std::int64_t>>& order,
                   const std::optional<In<std::uint8_t>>& names,
                   const std::optional<In<std::int64_t>>& name_offsets, std::size_t outputs,
                   const std::optional<In<double>>& offsets) {
  const BlockView<Index> block =
      view<Index>(indptr, indices, values, labels, weights, names, name_offsets, offsets);
  check_outputs(model, outputs);
  auto [scores, outcome] = try_to_learn(model, block, order, outputs);
  if (outcome.status == Outcome::Status::diverged)
    throw nb::value_error("covariance='full' is for at most 4,095 features: use covariance='diagonal'");
  check(outcome);
  return scores;
}

template <class T>
using InOut2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Corrects scores, rows x outputs, in place. With labels, each example is corrected by those before it, and
// learned.
void recalibrate(const InOut2<double>& scores, const InOut2<double>& state,
                 const std::optional<In<double>>& labels, const std::optional<In<double>>& weights,
                 double keep) {
  const std::size_t rows = scores.shape(0), outputs = scores.shape(1);
  if (state.shape(0) != outputs || state.shape(1) != Recalibration::kWidth)
    throw nb::value_error("another number of outputs");
  if ((labels && labels->size() != rows) || (weights && weights->size() != rows))
    throw nb::value_error("another number of labels or weights");
  double *at = scores.data(), *kept = state.data();
  const double *y = labels ? labels->data() : nullptr, *w = weights ? weights->data() : nullptr;
  nb::gil_scoped_release nogil;
  for (std::size_t o = 0; o < outputs; ++o) {
    double* of = kept + o * Recalibration::kWidth;
    Recalibration now(of);
    for (std::size_t r = 0; r < rows; ++r) {
      double& score = at[r * outputs + o];
      const Recalibration::Seen seen(score);
      score = now.score(seen);
      if (y == nullptr) continue;
      const bool yes = y[r] == (outputs == 1 ? 1.0 : static_cast<double>(o));
      now.learn(seen, yes ? 1 : -1, w == nullptr ? 1 : w[r], keep, of);
      now = Recalibration(of);
    }
  }
}

template <class Index>
Out2<double> score(const Bayesian& model, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const std::optional<In<std::uint8_t>>& names,
                   const std::optional<In<std::int64_t>>& name_offsets, std::size_t outputs,
                   const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, {}, names, name_offsets, offsets);
  check_outputs(model, outputs);
  return scored(model, block, outputs);
}

template <class Index>
std::tuple<Out2<double>, Out2<double>> moments(const Bayesian& model, const In<std::int64_t>& indptr,
                                               const In<Index>& indices, const In<float>& values,
                                               const std::optional<In<std::uint8_t>>& names,
                                               const std::optional<In<std::int64_t>>& name_offsets,
                                               const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, {}, names, name_offsets, offsets);
  const auto columns = static_cast<std::size_t>(model.columns());
  NewArray<double> means(static_cast<std::size_t>(block.rows) * columns);
  NewArray<double> variances(static_cast<std::size_t>(block.rows) * columns);
  check(reading(model, [&] { return model.moments(block, means.get(), variances.get()); }));
  return {give(std::move(means), columns), give(std::move(variances), columns)};
}

struct PosteriorArrays {
  Out<std::int64_t> keys;
  Out2<double> means, precisions, prior_means, prior_precisions;
};

PosteriorArrays arrays(Posterior&& p, int columns) {
  const auto n = static_cast<std::size_t>(columns);
  return {give(std::move(p.keys)), give(std::move(p.means), n), give(std::move(p.precisions), n),
          give(std::move(p.prior_means), n), give(std::move(p.prior_precisions), n)};
}

void bind_posterior(nb::module_& m) {
  nb::class_<PosteriorArrays>(m, "Posterior",
                              "Rows of a Bayesian model, brought current; columns side by side.")
      .def_ro("keys", &PosteriorArrays::keys, nb::rv_policy::automatic,
              "Of the features that were learned, ascending.")
      .def_ro("means", &PosteriorArrays::means, nb::rv_policy::automatic)
      .def_ro("precisions", &PosteriorArrays::precisions, nb::rv_policy::automatic)
      .def_ro("prior_means", &PosteriorArrays::prior_means, nb::rv_policy::automatic)
      .def_ro("prior_precisions", &PosteriorArrays::prior_precisions, nb::rv_policy::automatic);
}

nb::dict snapshot(const Bayesian& model) {
  struct {
    ModelState common;
    std::vector<double> log_evidence;
  } now = reading(model, [&] { return decltype(now){state_of(model), model.log_evidence}; });
  nb::dict out = as_dict(std::move(now.common));
  out["log_evidence"] = nb::cast(give(std::move(now.log_evidence)));
  return out;
}

template <class F>
Out<double> mapped(const In<double>& z, F f) {
  NewArray<double> out(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) out.get()[i] = f(z.data()[i]);
  return give(std::move(out));
}

void bind_functions(nb::module_& m) {
  const auto elementwise = [&m](const char* name, double (*f)(double), const char* doc) {
    m.def(name, [f](const In<double>& x) { return mapped(x, f); }, nb::arg("x"), doc);
  };
  elementwise("exp", [](double x) { return riata::exp(x); }, "The core's own exp, for tests.");
  elementwise("log", [](double x) { return riata::log(x); }, "The core's own log, for tests.");
  elementwise("log1p", [](double x) { return riata::log1p(x); }, "The core's own log(1 + x), for tests.");
  elementwise("wide_log1p", [](double x) { return wide_log1p(x); }, "The same in fewer steps, for tests.");
  elementwise(
      "one_minus_exp_of_minus", [](double x) { return one_minus_exp_of_minus(x); },
      "1 - exp(-x) for x from 0 to 708, for tests.");
  elementwise("normal_cdf", [](double x) { return normal_cdf(x); }, "The core's own, for tests.");
  elementwise(
      "bounded_exp", [](double x) { return bounded_exp(x); },
      "exp(x), and for |x| > 700 the value at 700 or -700, for tests.");
  m.def(
      "probit_derivatives",
      [](const In<double>& z) {
        return std::make_tuple(mapped(z, [](double v) { return Probit::at(v).slope; }),
                               mapped(z, [](double v) { return Probit::at(v).curvature; }),
                               mapped(z, [](double v) { return Probit::log_value(v); }));
      },
      nb::arg("z"), "phi / Phi, minus the second derivative of ln Phi, and ln Phi, for tests.");
  m.def(
      "standard_normals",
      [](std::uint64_t seed, std::uint64_t t, int count) {
        NewArray<double> out(static_cast<std::size_t>(std::max(count, 0)));
        draw_normals(seed, t, std::max(count, 0), out.get());
        return give(std::move(out));
      },
      nb::arg("seed"), nb::arg("t"), nb::arg("count"), "The samples that update='vb' uses for example t.");

  m.attr("RECALIBRATION_WIDTH") = Recalibration::kWidth;
  m.def("recalibrate", &recalibrate, nb::arg("scores"), nb::arg("state"), nb::arg("labels").none(),
        nb::arg("weights").none(), nb::arg("keep"),
        "Correct log odds in place; with labels, each by the examples before it, and learn from them.");
  m.def(
      "recalibration",
      [](const In2<double>& state) {
        if (state.shape(1) != Recalibration::kWidth)
          throw nb::value_error("not the state of a recalibration");
        std::vector<std::tuple<double, double, double>> out;
        for (std::size_t o = 0; o < state.shape(0); ++o) {
          const Recalibration now(state.data() + o * Recalibration::kWidth);
          out.emplace_back(now.a(), now.b(), now.c());
        }
        return out;
      },
      nb::arg("state"), "For every output, what multiplies ln(p) and -ln(1 - p), and what is added.");
}

// What is saved of a model and put back, beside what all models have.
void bind_state(nb::class_<Bayesian, Model>& bayesian) {
  bayesian
      .def("snapshot", &snapshot, nb::sig("def snapshot(self) -> dict[str, NDArray[typing.Any]]"),
           "All of the model's state at one moment, by name.")
      .def_prop_rw(
          "log_evidence",
          [](const Bayesian& model) { return glancing(model, [&] { return model.log_evidence; }); },
          [](Bayesian& model, const std::vector<double>& values) {
            if (values.size() != model.log_evidence.size())
              throw nb::value_error("another number of components");
            writing(model, [&] { model.log_evidence = values; });
          })
      .def_prop_ro("columns", &Bayesian::columns);
}

}  // namespace

void bind_bayesian(nb::module_& m) {
  bind_functions(m);
  bind_posterior(m);
  nb::class_<Bayesian, Model> bayesian(m, "Bayesian",
                                       "Independent Gaussian posteriors over a store, columns wide.");
  bayesian
      .def(nb::new_(&make), nb::arg("store"), nb::arg("update"), nb::arg("link"), nb::arg("mean"),
           nb::arg("variance"), nb::arg("prior_variances"), nb::arg("views"), nb::arg("prior_mean"),
           nb::arg("intercept_variance"), nb::arg("fit_intercept"), nb::arg("half_life"), nb::arg("share"),
           nb::arg("outputs"), nb::arg("samples"), nb::arg("seed"), nb::arg("bits"), nb::arg("own_priors"),
           nb::arg("ignore_unseen"), nb::arg("named_variances"))
      .def("learn", &learn<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(), nb::arg("names").none(),
           nb::arg("name_offsets").none(), nb::arg("outputs"), nb::arg("offsets") = nb::none())
      .def("learn", &learn<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("labels"), nb::arg("weights").none(), nb::arg("order").none(), nb::arg("names").none(),
           nb::arg("name_offsets").none(), nb::arg("outputs"), nb::arg("offsets") = nb::none())
      .def("score", &score<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("outputs"),
           nb::arg("offsets") = nb::none())
      .def("score", &score<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("outputs"),
           nb::arg("offsets") = nb::none())
      .def("moments", &moments<std::int32_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets") = nb::none())
      .def("moments", &moments<std::int64_t>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
           nb::arg("names").none(), nb::arg("name_offsets").none(), nb::arg("offsets") = nb::none())
      .def(
          "posterior",
          [](const Bayesian& model) {
            return arrays(reading(model, [&] { return model.posterior(); }), model.columns());
          },
          "Of the features that were learned.")
      .def("intercept_posterior", [](const Bayesian& model) {
        return arrays(reading(model, [&] { return model.intercept_posterior(); }), model.columns());
      });
  bind_state(bayesian);
}

}  // namespace riata::bind
