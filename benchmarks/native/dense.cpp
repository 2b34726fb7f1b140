// Elastic-net logistic regression that updates every weight at every example: what lazy updates save.
// The sweep is branch-free, so the compiler vectorises it with the widest instructions of the machine.
#include <cmath>
#include <cstdint>

// One example after another, FoBoS: u = w - eta g; w = sign(u) max(0, |u| - eta l1) / (1 + eta l2), eta =
// eta0 / sqrt(t).
extern "C" void dense_fobos(int64_t d, double* w, double* intercept, int64_t rows, const int64_t* indptr,
                            const int32_t* indices, const float* values, const double* labels, double eta0,
                            double l1, double l2) {
  for (int64_t i = 0; i < rows; ++i) {
    double p = *intercept;
    for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) p += w[indices[k]] * values[k];
    const double y = labels[i];
    const double eta = eta0 / std::sqrt(static_cast<double>(i + 1));
    const double step = eta * -y / (1.0 + std::exp(y * p));
    for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) w[indices[k]] -= step * values[k];
    *intercept -= step;
    const double cut = eta * l1;
    const double scale = 1.0 / (1.0 + eta * l2);
    for (int64_t j = 0; j < d; ++j) {
      const double size = std::fabs(w[j]) - cut;
      w[j] = std::copysign(size > 0.0 ? size * scale : 0.0, w[j]);
    }
  }
}
