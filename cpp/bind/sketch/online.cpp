// The online sketch: check the arrays, release the GIL, call.
#include "riata/sketch/online.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

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

std::unique_ptr<OnlineSketch> make_online(const std::string& link, bool fit_intercept,
                                          bool penalize_intercept, double gamma, double horizon,
                                          double change, std::int64_t block_size) {
  return std::make_unique<OnlineSketch>(OnlineSpec{.link = &link_named(link),
                                                   .fit_intercept = fit_intercept,
                                                   .penalize_intercept = penalize_intercept,
                                                   .gamma = gamma,
                                                   .horizon = horizon,
                                                   .change = change,
                                                   .block_size = block_size});
}

using Triples = std::tuple<Out<std::int64_t>, Out<std::int64_t>, Out<double>>;

Triples triples(const OnlineSketch& sketch) {
  std::vector<std::int64_t> rows, columns;
  std::vector<double> values;
  reading(sketch, [&] {
    for (std::size_t j = 0; j < sketch.psi.size(); ++j)
      sketch.psi.row(j).each_in_order([&](std::size_t k, double value) {
        if (value == 0) return;
        rows.push_back(static_cast<std::int64_t>(j));
        columns.push_back(static_cast<std::int64_t>(k));
        values.push_back(value);
      });
  });
  return {give(std::move(rows)), give(std::move(columns)), give(std::move(values))};
}

void restore_held(OnlineSketch& s, const In<std::int64_t>& keys, const In2<double>& vectors,
                  const In<std::int64_t>& rows, const In<std::int64_t>& columns, const In<double>& values,
                  std::int64_t t, std::int64_t refreshed) {
  const std::size_t first = s.keys.size(), n = keys.size();  // the intercept, where there is one, has key -1
  if (first > 1 || n < first || (first == 1 && keys.data()[0] != -1) || vectors.shape(0) != n ||
      vectors.shape(1) != 3 || columns.size() != rows.size() || values.size() != rows.size() || t < 0 ||
      refreshed < 0 || refreshed > t)
    throw nb::value_error("the state has another shape");
  check_keys(keys.data() + first, n - first);
  for (std::size_t j = first; j < n; ++j)
    if (static_cast<std::size_t>(s.slot_of(keys.data()[j])) != j)
      throw nb::value_error("a feature has two places in the state");
  for (std::size_t j = 0; j < n; ++j) {
    s.weights[j] = vectors.data()[3 * j];
    s.theta[j] = vectors.data()[3 * j + 1];
    s.r[j] = vectors.data()[3 * j + 2];
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto j = static_cast<std::size_t>(rows.data()[i]);
    const auto k = static_cast<std::size_t>(columns.data()[i]);
    if (j >= n || k >= n) throw nb::value_error("the state has another shape");
    s.psi.add(j, k, values.data()[i]);
  }
  s.t = t;
  s.refreshed = refreshed;
}

void restore_online(OnlineSketch& s, const In<std::int64_t>& keys, const In2<double>& vectors,
                    const In<std::int64_t>& rows, const In<std::int64_t>& columns, const In<double>& values,
                    std::int64_t t, std::int64_t refreshed) {
  writing(s, [&] { restore_held(s, keys, vectors, rows, columns, values, t, refreshed); });
}

template <class Index>
Out<double> learn(OnlineSketch& sketch, const In<std::int64_t>& indptr, const In<Index>& indices,
                  const In<float>& values, const In<double>& labels, const std::optional<In<double>>& weights,
                  double positive, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, labels, weights, {}, {}, offsets);
  NewArray<double> scores(static_cast<std::size_t>(block.rows));
  const Accumulated outcome = writing(sketch, [&] {
    const Accumulated found = sketch.learn(block, positive, scores.get(), 1);
    if (found == Accumulated::too_many_pairs) scores.size = static_cast<std::size_t>(sketch.refused.row);
    return found;
  });
  if (outcome != Accumulated::too_many_pairs) check(outcome);
  return give(std::move(scores));
}

template <class Index>
void bind_learn(nb::class_<OnlineSketch>& c) {
  c.def("learn", &learn<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"), nb::arg("labels"),
        nb::arg("weights").none(), nb::arg("positive"), nb::arg("offsets") = nb::none(),
        "Learns the examples; the score of each just before. Fewer of them where one was refused.");
}

// The examples of a block that is not full: (y, weight, offset) a row, then entries.
std::tuple<Out2<double>, Out<std::int64_t>, Out<std::int64_t>, Out<float>> waiting(const OnlineSketch& s) {
  std::vector<double> heads;
  std::vector<std::int64_t> indptr{0}, keys;
  std::vector<float> values;
  reading(s, [&] {
    for (const OnlineSketch::Example& x : s.waiting) {
      heads.insert(heads.end(), {x.y, x.weight, x.offset});
      for (const Entry& e : x.entries) {
        keys.push_back(s.keys[static_cast<std::size_t>(e.slot)]);
        values.push_back(e.value);
      }
      indptr.push_back(static_cast<std::int64_t>(keys.size()));
    }
  });
  return {give(std::move(heads), 3), give(std::move(indptr)), give(std::move(keys)), give(std::move(values))};
}

void set_waiting(OnlineSketch& s, const In2<double>& heads, const In<std::int64_t>& indptr,
                 const In<std::int64_t>& keys, const In<float>& values) {
  const std::size_t width = heads.shape(1);  // 2 in old model files, which know no offsets
  if (indptr.size() != heads.shape(0) + 1 || keys.size() != values.size() || (width != 2 && width != 3))
    throw nb::value_error("bad waiting rows");
  if (heads.shape(0) > 0 &&
      (indptr.data()[0] != 0 || indptr.data()[heads.shape(0)] != static_cast<std::int64_t>(keys.size())))
    throw nb::value_error("bad waiting rows");
  writing(s, [&] {
    s.waiting.clear();
    for (std::size_t i = 0; i < heads.shape(0); ++i) {
      OnlineSketch::Example x;
      x.y = heads.data()[width * i];
      x.weight = heads.data()[width * i + 1];
      x.offset = width == 3 ? heads.data()[width * i + 2] : 0;
      for (std::int64_t k = indptr.data()[i]; k < indptr.data()[i + 1]; ++k) {
        if (k < 0 || static_cast<std::size_t>(k) >= keys.size()) throw nb::value_error("bad waiting rows");
        const std::int64_t key = keys.data()[k];
        if (key != -1 || s.keys.empty() || s.keys[0] != -1) check_keys(&key, 1);
        x.entries.push_back({key < 0 ? 0 : s.slot_of(key), values.data()[k]});
      }
      s.waiting.push_back(std::move(x));
    }
  });
}

}  // namespace

void bind_online_sketch(nb::module_& m) {
  nb::class_<OnlineSketch> online(m, "OnlineSketch", "A sketch that follows its examples one by one.");
  online
      .def(nb::new_(&make_online), nb::arg("link"), nb::arg("fit_intercept"), nb::arg("penalize_intercept"),
           nb::arg("gamma"), nb::arg("horizon"), nb::arg("change"), nb::arg("block_size"))
      .def("flush", [](OnlineSketch& s) { writing(s, [&] { s.flush(); }); })
      .def("merge", &merge_held<OnlineSketch>, nb::arg("other"))
      .def_prop_ro(
          "keys", [](const OnlineSketch& s) { return give(reading(s, [&] { return s.keys; })); },
          nb::rv_policy::move)
      .def_prop_ro(
          "weights", [](const OnlineSketch& s) { return give(reading(s, [&] { return s.weights; })); },
          nb::rv_policy::move)
      .def(
          "vectors",
          [](const OnlineSketch& s) {
            std::vector<double> out;
            reading(s, [&] {
              for (std::size_t j = 0; j < s.keys.size(); ++j)
                out.insert(out.end(), {s.weights[j], s.theta[j], s.r[j]});
            });
            return give(std::move(out), 3);
          },
          "Weights, theta and the negative gradient of the model, by slot.")
      .def("triples", [](const OnlineSketch& s) { return triples(s); })
      .def("waiting", &waiting)
      .def("set_waiting", &set_waiting)
      .def("restore", &restore_online)
      .def_prop_ro("t", [](const OnlineSketch& s) { return glancing(s, [&] { return s.t; }); })
      .def_prop_ro("refreshed",
                   [](const OnlineSketch& s) { return glancing(s, [&] { return s.refreshed; }); })
      .def_prop_ro("features", [](const OnlineSketch& s) { return glancing(s, [&] { return s.features; }); })
      .def_prop_ro("bytes", [](const OnlineSketch& s) { return glancing(s, [&] { return s.bytes(); }); })
      .def_prop_rw(
          "max_bytes", [](const OnlineSketch& s) { return glancing(s, [&] { return s.max_bytes; }); },
          [](OnlineSketch& s, std::size_t most) { writing(s, [&] { s.max_bytes = most; }); },
          "The most that pairs of features may take: an example that could need more is refused.")
      .def_prop_ro(
          "refused",
          [](const OnlineSketch& s) {
            const auto refused = glancing(s, [&] { return s.refused; });
            return std::make_tuple(refused.features, refused.bytes);
          },
          "The features of the last example that was, and the bytes that it could have needed.");
  bind_learn<std::int32_t>(online);
  bind_learn<std::int64_t>(online);
}

}  // namespace riata::bind
