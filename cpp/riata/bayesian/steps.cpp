#include "riata/bayesian/steps.hpp"

#include <algorithm>
#include <cmath>

#include "riata/bayesian/samples.hpp"
#include "riata/losses/loss.hpp"

namespace riata {

namespace {

// One feature in one column, eqs. 6, 7 and 16, for any link.
struct FeatureMargin {
  double xr;     // x / sqrt(1 + k s^2), s^2 the variance of all the other features
  double power;  // xr^2 sigma_i^2: how far z moves for a unit of slope
  double z;      // eq. 16, eq. 29: the label's margin, shrunk by the others' variance
};

template <LinkFunction Link>
inline FeatureMargin feature_margin(double x, double variance, double mean, double spread,
                                    double y) noexcept {
  const double others = spread - x * (x * variance);
  const double r = 1 / std::sqrt(1 + Link::kShrink * (others > 0 ? others : 0));
  const double xr = x * r;
  return {xr, xr * (xr * variance), y * mean * r};
}

// u of the peak: u = b * slope(z + u), b >= 0 (eq. 15 and eq. 28 in terms of z). The left side rises faster
// than the right one, so there is one root, between 0 and b * slope(z). Newton's steps (eqs. 32-34), and a
// bisection wherever a step would leave the interval known to hold the root, or is not half as long as the
// last one (they can jump to and fro across the root): so in every iteration the step or the interval halves,
// and it always ends.
template <LinkFunction Link>
inline double peak(double z, double b) noexcept {
  double low = 0, high = b * Link::at(z).slope;
  double u = 0, last = high;
  for (int i = 0; i < 200; ++i) {
    const LinkDerivatives at = Link::at(z + u);
    const double off = u - b * at.slope;
    (off > 0 ? high : low) = u;
    double next = u - off / (1 + b * at.curvature);
    if (i > 0 && !(next >= low && next <= high && 2 * std::fabs(next - u) <= last)) next = 0.5 * (low + high);
    last = std::fabs(next - u);
    const bool done = last <= 1e-15 * std::fabs(next);
    u = next;
    if (done) break;
  }
  return u;
}

template <LinkFunction Link, class Visit>
inline void each(const UpdateInput& m, Visit visit) noexcept {
  const int width = m.columns / m.views;
  for (std::int64_t i = 0; i < m.rows; ++i)
    for (int v = 0; v < m.views; ++v)
      for (int c = v * width; c < (v + 1) * width; ++c) {
        const std::int64_t k = i * m.columns + c;
        visit(k, c, m.x[i * m.views + v], m.variances[k]);
      }
}

// Algorithm 1.
template <LinkFunction Link, bool kNewton, bool kHeight>
void marginal(const UpdateInput& m) noexcept {
  each<Link>(m, [&](std::int64_t k, int c, double x, double variance) {
    const FeatureMargin at = feature_margin<Link>(x, variance, m.means[c], m.spreads[c], m.y[c]);
    const double b = m.weight * at.power;
    const LinkDerivatives before = Link::at(at.z);
    // eq. 15 / 28, or its first-order solution, eq. 17 / 30
    const double u = kNewton ? peak<Link>(at.z, b) : b * before.slope / (1 + b * before.curvature);
    const double move = at.xr != 0 ? u / at.xr : 0;
    m.moves[k] = m.y[c] * move;
    if constexpr (kHeight) {  // eq. 18, as a logarithm
      const double z = m.y[c] * m.means[c] / std::sqrt(1 + Link::kShrink * m.spreads[c]);
      const double log_ratio =
          m.weight * (Link::log_value(z) - Link::log_value(at.z + u)) + 0.5 * move * (move / variance);
      // An observation cannot make a feature less certain; eq. 8 is not the exact normaliser, so (18) might.
      const double log_gain = std::min(-2 * log_ratio, 2 * kExpLimit / 7);
      m.gains[k] = log_gain > 0 ? std::expm1(log_gain) / variance : 0;
    } else {  // eq. 19 / 31
      m.gains[k] = m.weight * (at.xr * at.xr) * Link::at(at.z + u).curvature;
    }
  });
}

// Appendix D.1 with a diagonal covariance: all features of the example at once. With s = sigma_t^2, eq. 45 is
// mu_i + y slope sigma_i^2 x / (1 + curvature s), and the diagonal of eq. 46, in precisions, gains
// curvature x^2 / (1 + curvature (s - x^2 sigma_i^2)).
template <LinkFunction Link, bool kNewton>
void joint(const UpdateInput& m) noexcept {
  const int width = m.columns / m.views;
  for (int c = 0; c < m.columns; ++c) {
    const double s = m.spreads[c], z = m.y[c] * m.means[c], b = m.weight * s;
    const LinkDerivatives before = Link::at(z);
    const double u = kNewton ? peak<Link>(z, b) : b * before.slope / (1 + b * before.curvature);
    const double curvature = m.weight * Link::at(z + u).curvature;
    const double pull = s > 0 ? m.y[c] * (u / s) : 0;
    for (std::int64_t i = 0; i < m.rows; ++i) {
      const std::int64_t k = i * m.columns + c;
      const double x = m.x[i * m.views + c / width], xv = x * m.variances[k];
      m.moves[k] = pull * xv;
      m.gains[k] = curvature * (x * x) / (1 + curvature * std::max(0.0, s - x * xv));
    }
  }
}

// Appendix D.2: match mean and variance of the posterior, with ln F(y mu_t / sqrt(1 + k sigma_t^2)) for the
// normaliser (exact for probit; for logit as good as eq. 8).
template <LinkFunction Link>
void adf(const UpdateInput& m) noexcept {
  const int width = m.columns / m.views;
  for (int c = 0; c < m.columns; ++c) {
    const double r = 1 / std::sqrt(1 + Link::kShrink * m.spreads[c]);
    const LinkDerivatives at = Link::at(m.y[c] * m.means[c] * r);
    for (std::int64_t i = 0; i < m.rows; ++i) {
      const std::int64_t k = i * m.columns + c;
      const double xr = m.x[i * m.views + c / width] * r;
      m.moves[k] = m.y[c] * m.weight * at.slope * (xr * m.variances[k]);
      const double curvature = m.weight * at.curvature * xr * xr;
      // What is left of the variance; a weight above 1 could use it up.
      const double left = 1 - curvature * m.variances[k];
      m.gains[k] = curvature / std::max(left, 1e-3);
    }
  }
}

// The sums over samples of eqs. 52 and 53.
struct Sums {
  double g0 = 0, g1 = 0, h0 = 0, h1 = 0, h2 = 0;
};

template <LinkFunction Link>
Sums sums(const UpdateInput& m, double z, double step) noexcept {
  constexpr int kChunk = 64;
  double slopes[kChunk], curvatures[kChunk];
  Sums out;
  for (int from = 0; from < m.samples; from += kChunk) {
    const int n = std::min(kChunk, m.samples - from);
    const double* s = m.normals + from;
    if constexpr (std::is_same_v<Link, Logit>) {
      best_sample_kernels().logit(n, s, z, step, slopes, curvatures);
    } else {
      for (int j = 0; j < n; ++j) {
        const LinkDerivatives at = Link::at(z + step * s[j]);
        slopes[j] = at.slope;
        curvatures[j] = at.curvature;
      }
    }
    for (int j = 0; j < n; ++j) {
      out.g0 += slopes[j];
      out.g1 += s[j] * slopes[j];
      out.h0 += curvatures[j];
      out.h1 += s[j] * curvatures[j];
      out.h2 += s[j] * s[j] * curvatures[j];
    }
  }
  const double n = m.samples;
  return {out.g0 / n, out.g1 / n, out.h0 / n, out.h1 / n, out.h2 / n};
}

// Appendix D.3. In units of the old standard deviation: mu' = mu + sigma d, sigma' = sigma q; alpha = y x r
// sigma.
struct Sampled {
  double d = 0, q = 1;
  double g0, g1, h00, h01, h11;  // eqs. 52 and 53
};

template <LinkFunction Link>
void measure(const UpdateInput& m, double z, double alpha, Sampled& at) noexcept {
  const Sums s = sums<Link>(m, z + alpha * at.d, alpha * at.q);
  const double wa = m.weight * alpha, waa = wa * alpha;
  at.g0 = at.d - wa * s.g0;
  at.g1 = at.q - 1 / at.q - wa * s.g1;
  at.h00 = 1 + waa * s.h0;
  at.h01 = waa * s.h1;
  at.h11 = 1 / (at.q * at.q) + 1 + waa * s.h2;
}

// The objective is convex in (d, q). A step is cut in half while it leads uphill about as steeply as it
// started downhill, or to a q that is not positive: each step lowers the objective. Whatever is left after 50
// counts.
template <LinkFunction Link>
void vb(const UpdateInput& m) noexcept {
  each<Link>(m, [&](std::int64_t k, int c, double x, double variance) {
    const FeatureMargin at = feature_margin<Link>(x, variance, m.means[c], m.spreads[c], m.y[c]);
    const double sigma = std::sqrt(variance), alpha = m.y[c] * at.xr * sigma;
    Sampled here;
    measure<Link>(m, at.z, alpha, here);
    for (int i = 0; i < 50; ++i) {
      const double det = here.h00 * here.h11 - here.h01 * here.h01;
      double d_step = (here.h01 * here.g1 - here.h11 * here.g0) / det;
      double q_step = (here.h01 * here.g0 - here.h00 * here.g1) / det;
      const double downhill = -(here.g0 * d_step + here.g1 * q_step);
      Sampled next;
      bool better = false;
      for (int cut = 0; cut < 60 && !better && std::isfinite(d_step) && std::isfinite(q_step); ++cut) {
        next.d = here.d + d_step;
        next.q = here.q + q_step;
        if (next.q > 0.05 * here.q) {
          measure<Link>(m, at.z, alpha, next);
          better = next.g0 * d_step + next.g1 * q_step <= 0.9 * downhill;
        }
        d_step *= 0.5;
        q_step *= 0.5;
      }
      if (!better) break;
      const double size = std::fabs(next.d - here.d) + std::fabs(next.q - here.q);
      here = next;
      if (size <= 1e-13 * (std::fabs(here.d) + here.q)) break;
    }
    m.moves[k] = sigma * here.d;
    m.gains[k] = (1 / (here.q * here.q) - 1) / variance;
  });
}

template <LinkFunction Link>
Step step_of(const std::string& update, bool newton, bool height) noexcept {
  if (update == "marginal") {
    if (newton) return height ? marginal<Link, true, true> : marginal<Link, true, false>;
    if (height) return marginal<Link, false, true>;
    return marginal<Link, false, false>;
  }
  if (update == "joint") return newton ? joint<Link, true> : joint<Link, false>;
  if (update == "adf") return adf<Link>;
  if (update == "vb") return vb<Link>;
  return nullptr;
}

std::uint64_t mixed(std::uint64_t x) noexcept {  // splitmix64's finaliser
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace

void gather(const ScoreMoments& g) noexcept {
  const int k = g.columns, width = k / g.views;
  for (int c = 0; c < k; ++c) {
    double means[8] = {}, spreads[8] = {};  // added up in the order that wide registers like
    for (std::int64_t i = 0; i < g.rows; ++i) {
      const double* common = i == 0 && g.intercept_first ? g.intercept_precisions : g.precisions;
      const double* row = g.state[i];
      const double value = g.x[i * g.views + c / width];
      const double own_mean = g.own ? row[2 * k + c] : 0, own_precision = g.own ? row[3 * k + c] : 0;
      const double variance = 1 / (common[c] + own_precision + row[k + c]);
      g.variances[i * k + c] = variance;
      means[i % 8] += value * (g.mean + own_mean + row[c]);
      spreads[i % 8] += value * (value * variance);
    }
    g.means[c] = sum_of(means);
    g.spreads[c] = sum_of(spreads);
  }
}

void absorb(std::int64_t rows, int k, double* const* state, const double* moves,
            const double* gains) noexcept {
  for (std::int64_t i = 0; i < rows; ++i) {
    double* row = state[i];
    for (int c = 0; c < k; ++c) row[c] = clamped(row[c] + moves[i * k + c], kLargestMean);
    for (int c = 0; c < k; ++c) {
      const double sum = row[k + c] + gains[i * k + c];
      const double most = sum < kLargestPrecision ? sum : kLargestPrecision;
      // Samples may say so, but no example makes a weight less sure than its prior.
      row[k + c] = most > 0 ? most : 0;
    }
  }
}

Step find_step(const std::string& update, const std::string& link, const std::string& mean,
               const std::string& variance) noexcept {
  if ((mean != "taylor" && mean != "newton") || (variance != "curvature" && variance != "height"))
    return nullptr;
  if (link == "logit") return step_of<Logit>(update, mean == "newton", variance == "height");
  if (link == "probit") return step_of<Probit>(update, mean == "newton", variance == "height");
  return nullptr;
}

void draw_normals(std::uint64_t seed, std::uint64_t t, int count, double* out) noexcept {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  constexpr double kTwoPi = 6.283185307179586;
  std::uint64_t at = mixed(seed + kGolden) ^ mixed(t + 2 * kGolden);
  const auto uniform = [&] { return (static_cast<double>(mixed(at += kGolden) >> 11) + 0.5) * 0x1p-53; };
  for (int j = 0; j < count; j += 2) {  // Box and Muller: two at a time
    const double radius = std::sqrt(-2 * riata::log(uniform())), angle = kTwoPi * uniform();
    out[j] = radius * std::cos(angle);
    if (j + 1 < count) out[j + 1] = radius * std::sin(angle);
  }
}

}  // namespace riata
