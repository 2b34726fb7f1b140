// Weights to score with.
#include "riata/sketch/scorer.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/arrays.hpp"
#include "bind/block_view.hpp"
#include "bind/sketch/parts.hpp"
#include "bind/turns.hpp"

namespace riata::bind {

namespace {

template <class Index>
Out2<double> score(const Scorer& scorer, const In<std::int64_t>& indptr, const In<Index>& indices,
                   const In<float>& values, const std::optional<In<double>>& offsets) {
  const BlockView<Index> block = view<Index>(indptr, indices, values, {}, {}, {}, {}, offsets);
  std::size_t m = 0;
  std::optional<NewArray<double>> scores;
  const Accumulated outcome = reading(scorer, [&] {
    m = scorer.intercept.size();
    scores.emplace(static_cast<std::size_t>(block.rows) * m);
    return m == 0 ? Accumulated::ok : scorer.score(block, scores->get());
  });
  if (m == 0) throw nb::value_error("no weights were set");
  check(outcome);
  return give(std::move(*scores), m);
}

template <class Index>
void bind_score(nb::class_<Scorer>& c) {
  c.def("score", &score<Index>, nb::arg("indptr"), nb::arg("indices"), nb::arg("values"),
        nb::arg("offsets") = nb::none());
}

}  // namespace

void bind_scorer(nb::module_& m) {
  nb::class_<Scorer> scorer(m, "Scorer", "Weights by feature, to score with.");
  scorer.def(nb::init<>())
      .def(
          "set",
          [](Scorer& s, const In<std::int64_t>& keys, const In2<double>& weights,
             const In<double>& intercept) {
            if (weights.shape(0) != keys.size() || weights.shape(1) != intercept.size())
              throw nb::value_error("keys, weights and intercept differ in size");
            if (intercept.size() == 0) throw nb::value_error("a model has at least one column");
            check_keys(keys.data(), keys.size());
            writing(s, [&] {
              s.set({keys.data(), keys.data() + keys.size()},
                    {weights.data(), weights.data() + weights.size()},
                    {intercept.data(), intercept.data() + intercept.size()});
            });
          },
          nb::arg("keys"), nb::arg("weights"), nb::arg("intercept"));
  bind_score<std::int32_t>(scorer);
  bind_score<std::int64_t>(scorer);
}

}  // namespace riata::bind
