// The arithmetic of beliefs about many weights together, for four settings side by side.
//
// The weights of a setting are Gaussian with the covariance U D U': U is upper triangular with ones on its diagonal, D is
// diagonal. Kept so, the covariance cannot lose its positive variances to rounding, however small they have become (Bierman
// 1977). An example says x'w = z, up to noise of the variance N. With f = U'x and v = D f, the variance of x'w is S = v'f, and
//
//   mean += P x (z - x'mean) / (N + S),   P -= P x x'P / (N + S)
//
// come column by column of U: with a_j = N + sum over i <= j of v_i f_i (so a_0 = N before all, a_n = N + S),
//
//   D_j *= a_(j-1) / a_j,   U_ij -= f_j / a_(j-1) * b_i,   b_i += U_ij (as it was) * v_j,   b_j = v_j,
//
// and b is P x at the end. A negative N takes back what such an example had said.
#pragma once

#include <cstdint>

#include "riata/simd/instructions.hpp"

namespace riata {

inline constexpr int kJointLanes = 4;  // settings side by side: each number below is four
inline constexpr double kLargestJointMean = 1e100;

struct JointBeliefs {
  int features = 0;
  double* factors = nullptr;    // U above its diagonal: column j, j numbers, begins at j (j - 1) / 2
  double* variances = nullptr;  // D
  double* means = nullptr;
};

// What is not zero of an example, by ascending places, and room for what it takes to learn it.
struct JointValues {
  const int* places = nullptr;
  const double* x = nullptr;
  int count = 0;
  double* turned = nullptr;  // U'x: features
  double* gains = nullptr;   // P x after the step: features
};

struct JointKernels {
  void (*scores)(const JointBeliefs&, const JointValues&, double* scores) noexcept;  // x'mean
  // Writes `turned` and S. What is behind the last feature of the beliefs is not known of the example.
  void (*gather)(const JointBeliefs&, const JointValues&, double* spreads) noexcept;
  // After gather: noise is N, and the means move by P x times `pulls`.
  void (*step)(const JointBeliefs&, const JointValues&, const double* noise, const double* pulls) noexcept;
};

RIATA_DECLARE_KERNELS(JointKernels, joint_kernels)

}  // namespace riata
