#include <nanobind/nanobind.h>

namespace riata::bind {
void bind_bayesian(nanobind::module_& m);
void bind_events(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_matrix(nanobind::module_& m);
void bind_svmlight(nanobind::module_& m);
}  // namespace riata::bind

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of Riata: kernels behind learners and sources. Not a public interface.";
  riata::bind::bind_bayesian(m);
  riata::bind::bind_linear(m);
  riata::bind::bind_events(m);
  riata::bind::bind_matrix(m);
  riata::bind::bind_svmlight(m);
}
