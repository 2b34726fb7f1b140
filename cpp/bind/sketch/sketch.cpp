// The sketch of a pass: check the arrays, release the GIL, call.
#include "riata/sketch/sketch.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/sketch/parts.hpp"
#include "bind/turns.hpp"

namespace riata::bind {

namespace {

template <class Index>
std::tuple<Out<double>, Out<double>> accumulate(Sketch& sketch, const In<std::int64_t>& indptr,
                                                const In<Index>& indices, const In<float>& values,
                                                const In<double>& labels,
                                                const std::optional<In<double>>& weights, double positive,
                                                int threads, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, labels, weights, {}, {}, offsets);
  const auto rows = static_cast<std::size_t>(block.rows);
  NewArray<double> scores(rows), losses(rows);
  check(writing(sketch,
                [&] { return sketch.accumulate(block, positive, threads, scores.get(), losses.get()); }));
  return {give(std::move(scores)), give(std::move(losses))};
}

// Features outside the active set whose gradient is at least `threshold` in size, and the negative gradients.
std::tuple<Out<std::int64_t>, Out<double>> outside(const Sketch& sketch, double threshold) {
  std::vector<std::int64_t> keys;
  std::vector<double> values;
  static_assert(Sketch::kParts == 2);
  const GradientArray &one = sketch.gradients[0], &other = sketch.gradients[1];
  const auto look = [&](std::int64_t j) {
    if (const double g = std::fabs(sketch.gradient(j)); g >= threshold && g > 0 && sketch.slot(j) == 0)
      keys.push_back(j);
  };
  reading(sketch, [&] {
    if (one.tracks_writes() || other.tracks_writes()) {
      one.each([&](std::uint64_t index, double value) {
        if (value != 0) look(static_cast<std::int64_t>(index));
      });
      const auto found = static_cast<std::ptrdiff_t>(keys.size());
      other.each([&](std::uint64_t index, double value) {
        if (value != 0 && one.get(index) == 0) look(static_cast<std::int64_t>(index));
      });
      std::inplace_merge(keys.begin(), keys.begin() + found, keys.end());
    } else {
      for (std::int64_t j = 0; j < sketch.features; ++j) look(j);
    }
    for (const std::int64_t key : keys) values.push_back(-sketch.gradient(key));
  });
  return {give(std::move(keys)), give(std::move(values))};
}

Sketch::Sums total_of(const Sketch& sketch) {
  return glancing(sketch, [&] { return sketch.total(); });
}

std::vector<double> active_gradient(const Sketch& sketch) {  // negative, by slot
  std::vector<double> r;
  if (sketch.has_intercept()) r.push_back(-sketch.total().slope);
  for (const std::int64_t key : sketch.keys) r.push_back(-sketch.gradient(key));
  return r;
}

// The pass so far, for a model file.
struct SketchSums {
  std::vector<double> scalars;
  Out<std::int64_t> keys;  // of the gradient
  Out2<double> gradients;  // a column a part
};

SketchSums sums(const Sketch& sketch) {
  std::vector<double> scalars, gradients;
  std::vector<std::int64_t> keys;
  reading(sketch, [&] {
    for (const Sketch::Sums& s : sketch.sums)
      scalars.insert(scalars.end(), {s.loss, s.slope, s.weight, s.positive, s.absolute_slope, s.dual});
    for (const Sketch::Sums& s : sketch.sums)
      if (!sketch.origin.empty()) scalars.insert(scalars.end(), s.along, s.along + Sketch::kLengths);
    scalars.push_back(sketch.largest);
    for (const GradientArray& part : sketch.gradients) {
      const auto before = static_cast<std::ptrdiff_t>(keys.size());
      part.each([&](std::uint64_t index, double g) {
        if (g != 0) keys.push_back(static_cast<std::int64_t>(index));
      });
      std::inplace_merge(keys.begin(), keys.begin() + before, keys.end());
    }
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    gradients.reserve(keys.size() * Sketch::kParts);
    for (const std::int64_t key : keys)
      for (const GradientArray& part : sketch.gradients)
        gradients.push_back(part.get(static_cast<std::uint64_t>(key)));
  });
  return {scalars, give(std::move(keys)), give(std::move(gradients), Sketch::kParts)};
}

void set_sums(Sketch& sketch, const std::vector<double>& scalars, const In<std::int64_t>& keys,
              const In2<double>& gradients, std::int64_t features) {
  constexpr std::size_t kSums = 6;
  const std::size_t whole = kSums * Sketch::kParts, more = Sketch::kLengths * Sketch::kParts;
  if (scalars.size() != whole + (sketch.origin.empty() ? 0 : more) + 1 || gradients.shape(0) != keys.size() ||
      gradients.shape(1) != Sketch::kParts)
    throw nb::value_error("the sums have another shape");
  check_keys(keys.data(), keys.size());
  if (features < 0 || !GradientArray::possible(static_cast<std::uint64_t>(features)))
    throw nb::value_error("the number of features is negative or beyond 2^37");
  writing(sketch, [&] {
    for (std::size_t k = 0; k < Sketch::kParts; ++k)
      sketch.sums[k] = {scalars[kSums * k],
                        scalars[kSums * k + 1],
                        scalars[kSums * k + 2],
                        scalars[kSums * k + 3],
                        scalars[kSums * k + 4],
                        scalars[kSums * k + 5],
                        {}};
    for (std::size_t i = 0; i < more && !sketch.origin.empty(); ++i)
      sketch.sums[i / Sketch::kLengths].along[i % Sketch::kLengths] = scalars[whole + i];
    sketch.largest = scalars.back();
    sketch.features = features;
    for (std::size_t i = 0; i < keys.size(); ++i)
      for (std::size_t k = 0; k < Sketch::kParts; ++k) {
        const auto key = static_cast<std::uint64_t>(keys.data()[i]);
        sketch.features = std::max(sketch.features, keys.data()[i] + 1);  // what others make room for
        if (!sketch.gradients[k].reserve(key + 1)) throw std::bad_alloc();
        sketch.gradients[k].set(key, gradients.data()[i * Sketch::kParts + k]);
      }
  });
}

std::unique_ptr<Sketch> make(const std::string& link, bool fit_intercept, bool full) {
  return make_sketch(link_named(link), fit_intercept, full);
}

void begin(Sketch& s, const In<std::int64_t>& keys, const In<double>& b, double intercept, bool curved) {
  if (keys.size() != b.size()) throw nb::value_error("keys and weights differ in length");
  for (std::size_t k = 0; k < keys.size(); ++k)
    if (keys.data()[k] < 0 || !GradientArray::possible(static_cast<std::uint64_t>(keys.data()[k])) ||
        (s.ordered() && k > 0 && keys.data()[k] <= keys.data()[k - 1]))
      throw nb::value_error("the active features must ascend");
  writing(s, [&] {
    s.begin({keys.data(), keys.data() + keys.size()}, {b.data(), b.data() + b.size()}, intercept, curved);
  });
}

void came_from(Sketch& s, const In<std::int64_t>& keys, const In<double>& b, double intercept) {
  if (keys.size() != b.size()) throw nb::value_error("keys and weights differ in length");
  check_keys(keys.data(), keys.size());
  writing(s, [&] {
    s.came_from({keys.data(), keys.data() + keys.size()}, {b.data(), b.data() + b.size()}, intercept);
  });
}

std::tuple<Out<double>, int, bool> solve(Sketch& s, double gamma, double gamma0, double change,
                                         double violation, int sweeps, const std::optional<In<double>>& low,
                                         const std::optional<In<double>>& high) {
  const CoordinateBounds bounds{low ? low->data() : nullptr, high ? high->data() : nullptr};
  std::vector<double> b;
  const ShootingReport report = writing(s, [&] {
    const std::size_t slots = s.first() + s.keys.size();
    if (low.has_value() != high.has_value() || (low && (low->size() != slots || high->size() != slots)))
      throw nb::value_error("bounds need a low and a high end for every slot");
    return s.solve(gamma, gamma0, {change, violation, sweeps}, b, bounds);
  });
  return {give(std::move(b)), report.sweeps, report.converged};
}

template <class Index>
void bind_accumulate(nb::class_<Sketch>& c) {
  c.def("accumulate", &accumulate<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
        nb::arg("labels"), nb::arg("weights").none(), nb::arg("positive"), nb::arg("threads"),
        nb::arg("offsets") = nb::none(),
        "Adds the examples to the pass; their scores at its point, and their losses, without their weights.");
}

}  // namespace

void bind_sketch(nb::module_& m) {
  nb::class_<SketchSums>(m, "SketchSums", "The sums of a pass so far.")
      .def_ro("scalars", &SketchSums::scalars)
      .def_ro("keys", &SketchSums::keys, nb::rv_policy::automatic, "The features of the gradient, ascending.")
      .def_ro("gradients", &SketchSums::gradients, nb::rv_policy::automatic,
              "A column for each part of the pass.");
  nb::class_<Sketch> sketch(m, "Sketch", "The sums of one pass at a fixed point.");
  sketch.def(nb::new_(&make), nb::arg("link"), nb::arg("fit_intercept"), nb::arg("full"))
      .def("begin", &begin, nb::arg("keys"), nb::arg("weights"), nb::arg("intercept"),
           nb::arg("curved") = true)
      .def("came_from", &came_from, nb::arg("keys"), nb::arg("weights"), nb::arg("intercept"))
      .def(
          "along",
          [](const Sketch& s) {
            const auto [total, asked] = reading(s, [&] { return std::pair(s.total(), !s.origin.empty()); });
            std::vector<double> steps(Sketch::kLength, Sketch::kLength + Sketch::kLengths);
            std::vector<double> losses(total.along, total.along + Sketch::kLengths);
            if (!asked) steps.clear(), losses.clear();
            return std::make_tuple(give(std::move(steps)), give(std::move(losses)));
          },
          "Parts of the step that led to the point of the pass, and the loss at each.")
      .def("outside", &outside, nb::arg("threshold"))
      .def("active_gradient",
           [](const Sketch& s) { return give(reading(s, [&] { return active_gradient(s); })); })
      .def("solve", &solve, nb::arg("gamma"), nb::arg("gamma0"), nb::arg("change"), nb::arg("violation"),
           nb::arg("sweeps"), nb::arg("low") = nb::none(), nb::arg("high") = nb::none())
      .def("merge", &merge_held<Sketch>, nb::arg("other"))
      .def("curvature", [](Sketch& s) { return give(writing(s, [&] { return s.curvature(); })); })
      .def("set_curvature",
           [](Sketch& s, const In<double>& cells) {
             const auto place = [](double at) { return at >= 0 && at < 1u << 31; };
             for (std::size_t i = 0; !s.ordered() && i < cells.size(); i += 3)
               if (i + 2 >= cells.size() || !place(cells.data()[i]) || !place(cells.data()[i + 1]))
                 throw nb::value_error("the curvature has another shape");
             writing(s, [&] { s.set_curvature({cells.data(), cells.data() + cells.size()}); });
           })
      .def("sums", &sums)
      .def("set_sums", &set_sums, nb::arg("scalars"), nb::arg("keys"), nb::arg("gradients"),
           nb::arg("features"))
      .def_prop_ro("curved", [](const Sketch& s) { return glancing(s, [&] { return s.curved(); }); })
      .def_prop_ro(
          "keys", [](const Sketch& s) { return give(reading(s, [&] { return s.keys; })); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights",
          [](const Sketch& s) {
            return give(
                reading(s, [&] { return std::vector<double>(s.weights.begin() + 1, s.weights.end()); }));
          },
          nb::rv_policy::move, "By slot: the intercept first, where there is one.")
      .def_prop_rw(
          "fingerprint",
          [](const Sketch& s) {
            const UnorderedFingerprint seen = glancing(s, [&] { return s.seen; });
            return std::make_tuple(seen.rows, seen.nnz, seen.sum);
          },
          [](Sketch& s, std::tuple<std::int64_t, std::int64_t, std::uint64_t> f) {
            writing(s, [&] { s.seen = {std::get<0>(f), std::get<1>(f), std::get<2>(f)}; });
          })
      .def_prop_ro("loss", [](const Sketch& s) { return total_of(s).loss; })
      .def_prop_ro("slope", [](const Sketch& s) { return total_of(s).slope; })
      .def_prop_ro("weight", [](const Sketch& s) { return total_of(s).weight; })
      .def_prop_ro("positive", [](const Sketch& s) { return total_of(s).positive; })
      .def_prop_ro("absolute_slope", [](const Sketch& s) { return total_of(s).absolute_slope; })
      .def_prop_ro("dual", [](const Sketch& s) { return total_of(s).dual; })
      .def_prop_ro("largest", [](const Sketch& s) { return glancing(s, [&] { return s.largest; }); })
      .def_prop_ro("features", [](const Sketch& s) { return glancing(s, [&] { return s.features; }); })
      .def_prop_ro("bytes", [](const Sketch& s) { return glancing(s, [&] { return s.bytes(); }); });
  bind_accumulate<std::int32_t>(sketch);
  bind_accumulate<std::int64_t>(sketch);
}

}  // namespace riata::bind
