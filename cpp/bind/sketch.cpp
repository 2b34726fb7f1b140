// Sketches: check the arrays, release the GIL, call.
#include "riata/sketch.hpp"

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

#include "arrays.hpp"
#include "riata/lexicon.hpp"
#include "riata/online_sketch.hpp"
#include "riata/scorer.hpp"

namespace riata::bind {

namespace {

const Link& link_named(const std::string& name) {
  const Link* link = find_link(name);
  if (link == nullptr) throw nb::value_error(("unknown link '" + name + "'").c_str());
  return *link;
}

void check(Accumulated outcome) {
  switch (outcome) {
    case Accumulated::ok:
      return;
    case Accumulated::bad_block:
      throw nb::value_error("the block is not well formed: indptr must ascend and stay within indices");
    case Accumulated::bad_index:
      throw nb::value_error("a feature index is negative or beyond 2^37");
    case Accumulated::bad_weight:
      throw nb::value_error("a weight of an example is negative or not a number");
    case Accumulated::not_finite:
      throw nb::value_error("a value of an example is infinite or not a number");
    case Accumulated::out_of_memory:
      throw std::bad_alloc();
  }
}

template <class Index>
BlockView<Index> view(const In<std::int64_t>& indptr, const In<Index>& indices, const In<float>& values,
                      const std::optional<In<double>>& labels, const std::optional<In<double>>& weights) {
  if (indptr.size() < 1) throw nb::value_error("indptr is empty");
  if (indices.size() != values.size()) throw nb::value_error("indices and values differ in length");
  const auto rows = static_cast<std::int64_t>(indptr.size()) - 1;
  if (labels && static_cast<std::int64_t>(labels->size()) != rows)
    throw nb::value_error("labels differ in length");
  if (weights && static_cast<std::int64_t>(weights->size()) != rows)
    throw nb::value_error("weights differ in length");
  return {rows,
          static_cast<std::int64_t>(indices.size()),
          indptr.data(),
          indices.data(),
          values.data(),
          labels ? labels->data() : nullptr,
          weights ? weights->data() : nullptr};
}

template <class Index>
Out<double> accumulate(Sketch& sketch, const In<std::int64_t>& indptr, const In<Index>& indices,
                       const In<float>& values, const In<double>& labels,
                       const std::optional<In<double>>& weights, double positive, int threads) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, labels, weights);
  Fresh<double> scores(static_cast<std::size_t>(block.rows));
  Accumulated outcome;
  {
    nb::gil_scoped_release nogil;
    outcome = sketch.accumulate(block, positive, threads, scores.get(), 1);
  }
  check(outcome);
  return give(std::move(scores));
}

template <class Index>
Out<double> learn(OnlineSketch& sketch, const In<std::int64_t>& indptr, const In<Index>& indices,
                  const In<float>& values, const In<double>& labels, const std::optional<In<double>>& weights,
                  double positive) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, labels, weights);
  Fresh<double> scores(static_cast<std::size_t>(block.rows));
  Accumulated outcome;
  {
    nb::gil_scoped_release nogil;
    outcome = sketch.learn(block, positive, scores.get(), 1);
  }
  check(outcome);
  return give(std::move(scores));
}

// Features outside the active set whose gradient is at least `threshold` in size, and the negative gradients.
std::tuple<Out<std::int64_t>, Out<double>> outside(const Sketch& sketch, double threshold) {
  std::vector<std::int64_t> keys;
  std::vector<double> values;
  for (const Lane& lane : sketch.lanes)
    lane.each([&](std::uint64_t index, double) {
      const auto j = static_cast<std::int64_t>(index);
      if (const double g = std::fabs(sketch.gradient(j)); g >= threshold && g > 0 && sketch.slot(j) == 0)
        keys.push_back(j);
    });
  std::sort(keys.begin(), keys.end());  // a feature may have met both lanes
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::int64_t key : keys) values.push_back(-sketch.gradient(key));
  return {give(std::move(keys)), give(std::move(values))};
}

std::vector<double> active_gradient(const Sketch& sketch) {  // negative, by slot
  std::vector<double> r;
  if (sketch.has_intercept()) r.push_back(-sketch.total().slope);
  for (const std::int64_t key : sketch.keys) r.push_back(-sketch.gradient(key));
  return r;
}

// The pass so far, for a model file: (scalars, keys of the gradient, a column a lane).
std::tuple<std::vector<double>, Out<std::int64_t>, Out2<double>> sums(const Sketch& sketch) {
  std::vector<double> scalars;
  for (const Sketch::Sums& s : sketch.sums)
    scalars.insert(scalars.end(), {s.loss, s.slope, s.weight, s.positive, s.lean, s.dual});
  scalars.push_back(sketch.largest);
  std::vector<std::int64_t> keys;
  std::vector<double> lanes;
  for (const Lane& lane : sketch.lanes)
    lane.each([&](std::uint64_t index, double g) {
      if (g != 0) keys.push_back(static_cast<std::int64_t>(index));
    });
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const std::int64_t key : keys)
    for (const Lane& lane : sketch.lanes) lanes.push_back(lane.get(static_cast<std::uint64_t>(key)));
  return {scalars, give(std::move(keys)), give(std::move(lanes), Sketch::kLanes)};
}

void set_sums(Sketch& sketch, const std::vector<double>& scalars, const In<std::int64_t>& keys,
              const In2<double>& lanes, std::int64_t features) {
  constexpr std::size_t kSums = 6;
  if (scalars.size() != kSums * Sketch::kLanes + 1 || lanes.shape(0) != keys.size() ||
      lanes.shape(1) != Sketch::kLanes)
    throw nb::value_error("the sums have another shape");
  for (std::size_t k = 0; k < Sketch::kLanes; ++k)
    sketch.sums[k] = {scalars[kSums * k],     scalars[kSums * k + 1], scalars[kSums * k + 2],
                      scalars[kSums * k + 3], scalars[kSums * k + 4], scalars[kSums * k + 5]};
  sketch.largest = scalars.back();
  sketch.features = features;
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t k = 0; k < Sketch::kLanes; ++k) {
      const auto key = static_cast<std::uint64_t>(keys.data()[i]);
      if (!Lane::possible(key) || !sketch.lanes[k].reserve(key + 1)) throw std::bad_alloc();
      sketch.lanes[k].set(key, lanes.data()[i * Sketch::kLanes + k]);
    }
}

// The numbers of these keys; where names come along, new ones join, otherwise an unknown key is -1.
Out<std::int32_t> translate(Lexicon& lexicon, const In<std::int64_t>& keys,
                            const std::optional<In<std::uint8_t>>& names,
                            const std::optional<In<std::int64_t>>& offsets) {
  if (names.has_value() != offsets.has_value() || (offsets && offsets->size() != keys.size() + 1))
    throw nb::value_error("keys and names differ in length");
  Fresh<std::int32_t> numbers(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) {
    if (!names) {
      numbers.get()[k] = lexicon.find(keys.data()[k]);
      continue;
    }
    const std::int64_t start = offsets->data()[k], stop = offsets->data()[k + 1];
    if (start < 0 || stop < start || static_cast<std::size_t>(stop) > names->size())
      throw nb::value_error("a name lies outside of the names");
    const auto* text = reinterpret_cast<const char*>(names->data()) + start;
    numbers.get()[k] = lexicon.add(keys.data()[k], {text, static_cast<std::size_t>(stop - start)});
  }
  return give(std::move(numbers));
}

std::unique_ptr<Sketch> make(const std::string& link, bool fit_intercept, bool full) {
  return make_sketch(link_named(link), fit_intercept, full);
}

std::unique_ptr<OnlineSketch> make_online(const std::string& link, bool fit_intercept,
                                          bool penalize_intercept, double gamma, double horizon,
                                          double change, std::int64_t block_size) {
  OnlineSpec spec;
  spec.link = &link_named(link);
  spec.fit_intercept = fit_intercept;
  spec.penalize_intercept = penalize_intercept;
  spec.gamma = gamma;
  spec.horizon = horizon;
  spec.change = change;
  spec.block_size = block_size;
  return std::make_unique<OnlineSketch>(spec);
}

using Triples = std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<double>>;

Triples triples(const RowsMatrix& matrix) {
  std::vector<std::int64_t> rows, columns;
  std::vector<double> values;
  for (std::size_t j = 0; j < matrix.size(); ++j)
    matrix.row(j).each([&](std::size_t k, double value) {
      if (value == 0) return;
      rows.push_back(static_cast<std::int64_t>(j));
      columns.push_back(static_cast<std::int64_t>(k));
      values.push_back(value);
    });
  return {give(std::move(rows)), give(std::move(columns)), give(std::move(values))};
}

void restore_online(OnlineSketch& s, const In<std::int64_t>& keys, const In2<double>& vectors,
                    const In<std::int64_t>& rows, const In<std::int64_t>& columns, const In<double>& values,
                    std::int64_t t, std::int64_t refreshed) {
  for (std::size_t j = 0; j < keys.size(); ++j)
    if (keys.data()[j] >= 0) s.slot_of(keys.data()[j]);
  const std::size_t n = s.keys.size();
  if (vectors.shape(0) != n || vectors.shape(1) != 3) throw nb::value_error("the state has another shape");
  for (std::size_t j = 0; j < n; ++j) {
    s.weights[j] = vectors.data()[3 * j];
    s.theta[j] = vectors.data()[3 * j + 1];
    s.r[j] = vectors.data()[3 * j + 2];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto j = static_cast<std::size_t>(rows.data()[i]), k = static_cast<std::size_t>(columns.data()[i]);
    if (j >= n || k >= n) throw nb::value_error("the state has another shape");
    s.psi.add(j, k, values.data()[i]);
  }
  s.t = t;
  s.refreshed = refreshed;
}

template <class Index>
void bind_accumulate(nb::class_<Sketch>& c) {
  c.def("accumulate", &accumulate<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
        nb::arg("labels"), nb::arg("weights").none(), nb::arg("positive"), nb::arg("threads"),
        "Adds the examples to the pass; their scores at its point.");
}

template <class Index>
Out2<double> score(const Scorer& scorer, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, std::nullopt, std::nullopt);
  const std::size_t m = scorer.intercept.size();
  Fresh<double> scores(static_cast<std::size_t>(block.rows) * m);
  Accumulated outcome;
  {
    nb::gil_scoped_release nogil;
    outcome = scorer.score(block, scores.get());
  }
  check(outcome);
  return give(std::move(scores), m);
}

template <class Index>
void bind_score(nb::class_<Scorer>& c) {
  c.def("score", &score<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"));
}

template <class Index>
void bind_learn(nb::class_<OnlineSketch>& c) {
  c.def("learn", &learn<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("labels"),
        nb::arg("weights").none(), nb::arg("positive"),
        "Learns the examples; the score of each just before.");
}

// The examples of a block that is not full: (y, weight) a row, then entries.
std::tuple<Out2<double>, Out<std::int64_t>, Out<std::int64_t>, Out<float>> waiting(const OnlineSketch& s) {
  std::vector<double> heads;
  std::vector<std::int64_t> indptr{0}, keys;
  std::vector<float> values;
  for (const OnlineSketch::Example& x : s.waiting) {
    heads.insert(heads.end(), {x.y, x.weight});
    for (const Entry& e : x.entries) {
      keys.push_back(s.keys[static_cast<std::size_t>(e.slot)]);
      values.push_back(e.value);
    }
    indptr.push_back(static_cast<std::int64_t>(keys.size()));
  }
  return {give(std::move(heads), 2), give(std::move(indptr)), give(std::move(keys)), give(std::move(values))};
}

void set_waiting(OnlineSketch& s, const In2<double>& heads, const In<std::int64_t>& indptr,
                 const In<std::int64_t>& keys, const In<float>& values) {
  if (indptr.size() != heads.shape(0) + 1 || keys.size() != values.size())
    throw nb::value_error("bad waiting rows");
  s.waiting.clear();
  for (std::size_t i = 0; i < heads.shape(0); ++i) {
    OnlineSketch::Example x;
    x.y = heads.data()[2 * i];
    x.weight = heads.data()[2 * i + 1];
    for (std::int64_t k = indptr.data()[i]; k < indptr.data()[i + 1]; ++k) {
      if (k < 0 || static_cast<std::size_t>(k) >= keys.size()) throw nb::value_error("bad waiting rows");
      const std::int64_t key = keys.data()[k];
      x.entries.push_back({key < 0 ? 0 : s.slot_of(key), values.data()[k]});
    }
    s.waiting.push_back(std::move(x));
  }
}

}  // namespace

void bind_sketch(nb::module_& m) {
  m.def(
      "link_term",
      [](const std::string& name, double margin, double y) {
        const Term term = link_named(name).at(margin, y);
        return std::make_tuple(term.loss, term.slope, term.curvature);
      },
      nb::arg("link"), nb::arg("margin"), nb::arg("y"),
      "Loss, slope and curvature at a margin, for y -1 or +1.");
  m.def(
      "link_apply",
      [](const std::string& name, const In<double>& margins, const std::optional<In<double>>& y) {
        const Link& link = link_named(name);
        Fresh<double> out(margins.size());
        for (std::size_t i = 0; i < margins.size(); ++i)
          out.get()[i] =
              y ? link.at(margins.data()[i], y->data()[i]).loss : link.probability(margins.data()[i]);
        return give(std::move(out));
      },
      nb::arg("link"), nb::arg("margins"), nb::arg("y").none(),
      "The loss of each margin for labels y of -1 and +1, or, without them, the probability of +1.");
  m.def(
      "shoot",
      [](const In2<double>& h, const In<double>& c, const In<double>& gamma, const In<double>& start,
         double change, double violation, int sweeps) {
        SquareMatrix matrix;
        const std::size_t n = c.size();
        if (h.shape(0) != n || h.shape(1) != n || gamma.size() != n || start.size() != n)
          throw nb::value_error("H, c, gamma and start differ in size");
        matrix.reset(n);
        for (std::size_t i = 0; i < n * n; ++i) matrix.cells()[i] = h.data()[i];
        matrix.complete();
        std::vector<double> b(start.data(), start.data() + n), r(c.data(), c.data() + n);
        for (std::size_t j = 0; j < n; ++j) matrix.subtract_column(j, b[j], r.data());
        ShootingReport report;
        {
          nb::gil_scoped_release nogil;
          report = Shooting<SquareMatrix>(matrix, gamma.data(), b.data(), r.data())
                       .run({change, violation, sweeps});
        }
        return std::make_tuple(give(std::move(b)), report.sweeps, report.converged);
      },
      nb::arg("h"), nb::arg("c"), nb::arg("gamma"), nb::arg("start"), nb::arg("change") = 1e-6,
      nb::arg("violation") = 0.0, nb::arg("sweeps") = 10000,
      "Modified Shooting: the minimum of b'Hb/2 - c'b + sum gamma |b|; the sweeps it took; whether it "
      "converged.");

  nb::class_<Sketch> sketch(m, "Sketch", "The sums of one pass at a fixed point.");
  sketch.def(nb::new_(&make), nb::arg("link"), nb::arg("fit_intercept"), nb::arg("full"))
      .def(
          "begin",
          [](Sketch& s, const In<std::int64_t>& keys, const In<double>& b, double intercept) {
            if (keys.size() != b.size()) throw nb::value_error("keys and weights differ in length");
            for (std::size_t k = 0; k < keys.size(); ++k)
              if (keys.data()[k] < 0 || !Lane::possible(static_cast<std::uint64_t>(keys.data()[k])) ||
                  (s.ordered() && k > 0 && keys.data()[k] <= keys.data()[k - 1]))
                throw nb::value_error("the active features must ascend");
            s.begin({keys.data(), keys.data() + keys.size()}, {b.data(), b.data() + b.size()}, intercept);
          },
          nb::arg("keys"), nb::arg("weights"), nb::arg("intercept"))
      .def("outside", &outside, nb::arg("threshold"))
      .def("active_gradient", [](const Sketch& s) { return give(active_gradient(s)); })
      .def(
          "solve",
          [](Sketch& s, double gamma, double gamma0, double change, double violation, int sweeps) {
            std::vector<double> b;
            ShootingReport report;
            {
              nb::gil_scoped_release nogil;
              report = s.solve(gamma, gamma0, {change, violation, sweeps}, b);
            }
            return std::make_tuple(give(std::move(b)), report.sweeps, report.converged);
          },
          nb::arg("gamma"), nb::arg("gamma0"), nb::arg("change"), nb::arg("violation"), nb::arg("sweeps"))
      .def("merge", &Sketch::merge, nb::arg("other"))
      .def("curvature", [](Sketch& s) { return give(s.curvature()); })
      .def("set_curvature",
           [](Sketch& s, const In<double>& cells) {
             s.set_curvature({cells.data(), cells.data() + cells.size()});
           })
      .def("sums", &sums)
      .def("set_sums", &set_sums, nb::arg("scalars"), nb::arg("keys"), nb::arg("lanes"), nb::arg("features"))
      .def_prop_ro(
          "keys", [](const Sketch& s) { return give(std::vector<std::int64_t>(s.keys)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights",
          [](const Sketch& s) { return give(std::vector<double>(s.weights.begin() + 1, s.weights.end())); },
          nb::rv_policy::move, "By slot: the intercept first, where there is one.")
      .def_prop_rw(
          "fingerprint", [](const Sketch& s) { return std::make_tuple(s.seen.rows, s.seen.nnz, s.seen.sum); },
          [](Sketch& s, std::tuple<std::int64_t, std::int64_t, std::uint64_t> f) {
            s.seen = {std::get<0>(f), std::get<1>(f), std::get<2>(f)};
          })
      .def_prop_ro("loss", [](const Sketch& s) { return s.total().loss; })
      .def_prop_ro("slope", [](const Sketch& s) { return s.total().slope; })
      .def_prop_ro("weight", [](const Sketch& s) { return s.total().weight; })
      .def_prop_ro("positive", [](const Sketch& s) { return s.total().positive; })
      .def_prop_ro("lean", [](const Sketch& s) { return s.total().lean; })
      .def_prop_ro("dual", [](const Sketch& s) { return s.total().dual; })
      .def_ro("largest", &Sketch::largest)
      .def_ro("features", &Sketch::features)
      .def_prop_ro("bytes", &Sketch::bytes);
  bind_accumulate<std::int32_t>(sketch);
  bind_accumulate<std::int64_t>(sketch);

  nb::class_<Scorer> scorer(m, "Scorer", "Weights by feature, to score with.");
  scorer.def(nb::init<>())
      .def(
          "set",
          [](Scorer& s, const In<std::int64_t>& keys, const In2<double>& weights,
             const In<double>& intercept) {
            if (weights.shape(0) != keys.size() || weights.shape(1) != intercept.size())
              throw nb::value_error("keys, weights and intercept differ in size");
            s.set({keys.data(), keys.data() + keys.size()}, {weights.data(), weights.data() + weights.size()},
                  {intercept.data(), intercept.data() + intercept.size()});
          },
          nb::arg("keys"), nb::arg("weights"), nb::arg("intercept"));
  bind_score<std::int32_t>(scorer);
  bind_score<std::int64_t>(scorer);

  nb::class_<Lexicon>(m, "Lexicon", "Named features, numbered as they come.")
      .def(nb::init<>())
      .def("translate", &translate, nb::arg("keys"), nb::arg("names").none(), nb::arg("offsets").none())
      .def("name",
           [](const Lexicon& l, std::size_t number) {
             if (number >= l.size()) throw nb::index_error("no such feature");
             const std::string_view name = l.name(number);
             return nb::bytes(name.data(), name.size());
           })
      .def(
          "arrays",
          [](const Lexicon& l) {
            std::vector<std::int64_t> offsets{0};
            offsets.insert(offsets.end(), l.ends().begin(), l.ends().end());
            return std::make_tuple(give(std::vector<std::int64_t>(l.keys())),
                                   give(std::vector<std::uint8_t>(l.names().begin(), l.names().end())),
                                   give(std::move(offsets)));
          },
          "Keys, names and name offsets, by number.")
      .def("__len__", &Lexicon::size);

  nb::class_<OnlineSketch> online(m, "OnlineSketch", "A sketch that follows its examples one by one.");
  online
      .def(nb::new_(&make_online), nb::arg("link"), nb::arg("fit_intercept"), nb::arg("penalize_intercept"),
           nb::arg("gamma"), nb::arg("horizon"), nb::arg("change"), nb::arg("block_size"))
      .def("flush", &OnlineSketch::flush)
      .def("merge", &OnlineSketch::merge, nb::arg("other"))
      .def_prop_ro(
          "keys", [](const OnlineSketch& s) { return give(std::vector<std::int64_t>(s.keys)); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const OnlineSketch& s) { return give(std::vector<double>(s.weights)); },
          nb::rv_policy::move)
      .def(
          "vectors",
          [](const OnlineSketch& s) {
            std::vector<double> out;
            for (std::size_t j = 0; j < s.keys.size(); ++j)
              out.insert(out.end(), {s.weights[j], s.theta[j], s.r[j]});
            return give(std::move(out), 3);
          },
          "Weights, theta and the negative gradient of the model, by slot.")
      .def("triples", [](const OnlineSketch& s) { return triples(s.psi); })
      .def("waiting", &waiting)
      .def("set_waiting", &set_waiting)
      .def("restore", &restore_online)
      .def_ro("t", &OnlineSketch::t)
      .def_ro("refreshed", &OnlineSketch::refreshed)
      .def_ro("features", &OnlineSketch::features)
      .def_prop_ro("bytes", &OnlineSketch::bytes);
  bind_learn<std::int32_t>(online);
  bind_learn<std::int64_t>(online);
}

}  // namespace riata::bind
