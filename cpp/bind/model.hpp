// What bindings of models share: learning a Block, and a model's state as arrays.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/outcome.hpp"
#include "bind/turns.hpp"
#include "riata/linear/model.hpp"

namespace riata::bind {

// The scores of the rows, `columns` wide, just before each was learned, and how it went.
template <class AnyModel, class Index>
std::pair<Out2<double>, Outcome> try_to_learn(AnyModel& model, const BlockView<Index>& block,
                                              const std::optional<In<std::int64_t>>& order,
                                              std::size_t columns) {
  const auto n = order ? static_cast<std::int64_t>(order->size()) : block.rows;
  NewArray<double> scores(static_cast<std::size_t>(n) * columns);
  const Outcome outcome =
      writing(model, [&] { return model.learn(block, order ? order->data() : nullptr, n, scores.get()); });
  return {give(std::move(scores), columns), outcome};
}

// (scores, examples done): fewer than asked for where the model diverged.
template <class AnyModel, class Index>
std::tuple<Out2<double>, std::int64_t> learned(AnyModel& model, const BlockView<Index>& block,
                                               const std::optional<In<std::int64_t>>& order,
                                               std::size_t columns) {
  auto [scores, outcome] = try_to_learn(model, block, order, columns);
  check(outcome);
  return {scores, outcome.done};
}

// The scores of the rows, `columns` wide, by the model as it is.
template <class AnyModel, class Index>
Out2<double> scored(const AnyModel& model, const BlockView<Index>& block, std::size_t columns) {
  NewArray<double> scores(static_cast<std::size_t>(block.rows) * columns);
  check(reading(model, [&] { return model.score(block, scores.get()); }));
  return give(std::move(scores), columns);
}

// What every model keeps, at one moment.
struct ModelState {
  Rows rows;
  std::size_t width;
  std::vector<double> intercept;
  std::uint64_t t;
  std::int64_t features;
  bool named;
  Names names;
  bool with_rows = true;
};
ModelState state_of(const Model& model, bool with_rows = true);  // with the model held
nanobind::dict as_dict(ModelState&& state);                      // as a model file names its parts

std::tuple<Out<std::int64_t>, Out2<double>> keys_and_values(Rows&& rows, std::size_t width);

}  // namespace riata::bind
