// The module riata._core: every file of this folder adds its part.
#include <nanobind/nanobind.h>

namespace riata::bind {
void bind_bank(nanobind::module_& m);
void bind_bayesian(nanobind::module_& m);
void bind_cache(nanobind::module_& m);
void bind_events(nanobind::module_& m);
void bind_explain(nanobind::module_& m);
void bind_explanation_lines(nanobind::module_& m);
void bind_fingerprint(nanobind::module_& m);
void bind_interior(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_dicts(nanobind::module_& m);
void bind_json(nanobind::module_& m);
void bind_label_counts(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_linear(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_hash_key(nanobind::module_& m);
void bind_read_file(nanobind::module_& m);
void bind_matrix(nanobind::module_& m);
void bind_feature_index(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_in_memory(nanobind::module_& m);
void bind_online_sketch(nanobind::module_& m);
void bind_parquet(nanobind::module_& m);
void bind_parsed(nanobind::module_& m);
void bind_portfolio(nanobind::module_& m);
void bind_regression(nanobind::module_& m);
void bind_running_scale(nanobind::module_& m);
void bind_scorer(nanobind::module_& m);
void bind_shooting(nanobind::module_& m);
void bind_sketch(nanobind::module_& m);
void bind_sorted_sums(nanobind::module_& m);
void bind_svmlight(nanobind::module_& m);
void bind_vw(nanobind::module_& m);
void bind_words(nanobind::module_& m);
void bind_write_text(nanobind::module_& m);
}  // namespace riata::bind

NB_MODULE(_core, m) {
#ifdef NDEBUG
  // A thread that still reads, or a traceback that is kept, may hold a model when the process ends, which frees it. That is
  // no leak of the user's to look for: the warnings are for builds with assertions.
  nanobind::set_leak_warnings(false);
#endif
  m.doc() = "The compiled core of Riata: kernels behind learners and sources. Not a public interface.";
  riata::bind::bind_model(m);
  riata::bind::bind_interior(m);
  riata::bind::bind_parsed(m);
  riata::bind::bind_columns(m);
  riata::bind::bind_csv(m);
  riata::bind::bind_dicts(m);
  riata::bind::bind_json(m);
  riata::bind::bind_bayesian(m);
  riata::bind::bind_cache(m);
  riata::bind::bind_label_counts(m);
  riata::bind::bind_losses(m);
  riata::bind::bind_linear(m);
  riata::bind::bind_bank(m);
  riata::bind::bind_running_scale(m);
  riata::bind::bind_events(m);
  riata::bind::bind_explain(m);
  riata::bind::bind_explanation_lines(m);
  riata::bind::bind_fingerprint(m);
  riata::bind::bind_hash_key(m);
  riata::bind::bind_read_file(m);
  riata::bind::bind_matrix(m);
  riata::bind::bind_shooting(m);
  riata::bind::bind_sketch(m);
  riata::bind::bind_scorer(m);
  riata::bind::bind_feature_index(m);
  riata::bind::bind_sorted_sums(m);
  riata::bind::bind_in_memory(m);
  riata::bind::bind_online_sketch(m);
  riata::bind::bind_parquet(m);
  riata::bind::bind_portfolio(m);
  riata::bind::bind_regression(m);
  riata::bind::bind_svmlight(m);
  riata::bind::bind_vw(m);
  riata::bind::bind_words(m);
  riata::bind::bind_write_text(m);
}
