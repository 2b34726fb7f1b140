// Losses by name, element by element or row by row: for the training loop's record, and for tests.
#include <nanobind/stl/string.h>

#include <string>

#include "bind/arrays.hpp"
#include "bind/losses/named.hpp"
#include "riata/base/parallel_for.hpp"
#include "riata/losses/log_loss.hpp"
#include "riata/losses/loss.hpp"

namespace riata::bind {

namespace {

Out<double> row_losses(const std::string& name, const In2<double>& scores, const In<double>& labels,
                       double parameter) {
  const Loss& loss = loss_named(name);
  const std::size_t n = scores.shape(0), columns = scores.shape(1);
  if (labels.size() != n) throw nb::value_error("scores and labels differ in length");
  NewArray<double> out(n);
  nb::gil_scoped_release nogil;
  parallel_for(static_cast<std::int64_t>(n), 1 << 16, [&](std::int64_t from, std::int64_t to) {
    if (loss.value == Logistic::value && columns == 1)
      return best_log_loss_kernels().losses(to - from, scores.data() + from, labels.data() + from,
                                            out.get() + from);
    for (auto i = static_cast<std::size_t>(from); i < static_cast<std::size_t>(to); ++i) {
      double total = 0;
      for (std::size_t c = 0; c < columns; ++c)
        total += loss.value(scores.data()[i * columns + c],
                            loss.target(labels.data()[i], static_cast<int>(c), static_cast<int>(columns)),
                            parameter);
      out.get()[i] = total;
    }
  });
  nb::gil_scoped_acquire gil;
  return give(std::move(out));
}

}  // namespace

void bind_losses(nb::module_& m) {
  m.def(
      "losses",
      [] {
        nb::list out;
        for (const Loss& loss : kLosses)
          out.append(nb::make_tuple(std::string(loss.name), loss.classification, loss.probability != nullptr,
                                    std::string(loss.parameter)));
        return out;
      },
      nb::sig("def losses() -> list[tuple[str, bool, bool, str]]"),
      "Every loss: its name, whether it classifies, whether it gives probabilities, its parameter's name.");
  // value, slope: element by element, for tests and for the training loop's own book-keeping
  const auto apply = [](Loss::Scalar f, const In<double>& p, const In<double>& y, double parameter) {
    if (p.size() != y.size()) throw nb::value_error("p and y differ in length");
    NewArray<double> out(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) out.get()[i] = f(p.data()[i], y.data()[i], parameter);
    return give(std::move(out));
  };
  m.def(
      "loss_value",
      [apply](const std::string& name, const In<double>& p, const In<double>& y, double parameter) {
        return apply(loss_named(name).value, p, y, parameter);
      },
      nb::arg("loss"), nb::arg("p"), nb::arg("y"), nb::arg("parameter") = 0.0);
  m.def(
      "loss_slope",
      [apply](const std::string& name, const In<double>& p, const In<double>& y, double parameter) {
        return apply(loss_named(name).slope, p, y, parameter);
      },
      nb::arg("loss"), nb::arg("p"), nb::arg("y"), nb::arg("parameter") = 0.0);
  m.def(
      "implicit_slope",
      [](const std::string& name, double p, double y, double parameter, double strength) {
        return loss_named(name).implicit(p, y, parameter, strength);
      },
      nb::arg("loss"), nb::arg("p"), nb::arg("y"), nb::arg("parameter"), nb::arg("strength"),
      "s = slope(p - strength s): the slope after the step that it leads to.");
  m.def("row_losses", &row_losses, nb::arg("loss"), nb::arg("scores"), nb::arg("labels"),
        nb::arg("parameter"), "The loss of every row, summed over columns; labels as a learner takes them.");
  m.def(
      "probability",
      [](const std::string& name, double p) {
        const Loss& loss = loss_named(name);
        if (loss.probability == nullptr) throw nb::value_error("this loss gives no probabilities");
        return loss.probability(p);
      },
      nb::arg("loss"), nb::arg("p"));
  m.def(
      "loss_probability",
      [](const std::string& name, const In<double>& p) {
        const Loss& loss = loss_named(name);
        if (loss.probability == nullptr) throw nb::value_error("this loss gives no probabilities");
        NewArray<double> out(p.size());
        for (std::size_t i = 0; i < p.size(); ++i) out.get()[i] = loss.probability(p.data()[i]);
        return give(std::move(out));
      },
      nb::arg("loss"), nb::arg("p"));
}

}  // namespace riata::bind
