#include "riata/block/scaled_numbers.hpp"

namespace riata::RIATA_TARGET {
namespace {

std::size_t scale(float* numbers, const ColumnScale* columns, std::size_t count) noexcept {
  unsigned zeros = 0;
  for (std::size_t k = 0; k < count; ++k) {
    numbers[k] = static_cast<float>((static_cast<double>(numbers[k]) - columns[k].centre) / columns[k].scale);
    zeros += numbers[k] == 0 ? 1U : 0U;
  }
  return zeros;
}

}  // namespace

const ScaledNumbersKernels scaled_numbers_kernels{scale};

}  // namespace riata::RIATA_TARGET
