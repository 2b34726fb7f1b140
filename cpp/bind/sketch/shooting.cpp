// Links and Shooting by themselves, for tests and for scores.
#include "riata/sketch/shooting.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <string>
#include <tuple>

#include "bind/arrays.hpp"
#include "bind/sketch/parts.hpp"
#include "riata/sketch/curvature.hpp"

namespace riata::bind {

void bind_shooting(nb::module_& m) {
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
        if (y && y->size() != margins.size()) throw nb::value_error("margins and y differ in length");
        NewArray<double> out(margins.size());
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
}

}  // namespace riata::bind
