// Values in fewer bytes, to the last bit: most features are there or not (1), or are counted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace riata {

enum class Packing { ones, counts, mixed, plain };

struct ValueKinds {
  std::size_t ones = 0, counts = 0;  // how many are 1; how many are 0 to 255

  void add(const float* values, std::size_t n) noexcept {
    for (std::size_t k = 0; k < n; ++k) {
      const auto bits = std::bit_cast<std::uint32_t>(values[k]);
      const float held = bits < std::bit_cast<std::uint32_t>(256.0f) ? values[k] : 0.0f;  // not -1, not NaN
      const float whole = static_cast<float>(static_cast<std::int32_t>(held));
      ones += bits == std::bit_cast<std::uint32_t>(1.0f);
      counts += std::bit_cast<std::uint32_t>(whole) == bits;
    }
  }
};

inline Packing packing_for(const ValueKinds& kinds, std::size_t n) noexcept {
  if (kinds.ones == n) return Packing::ones;
  if (kinds.counts == n) return Packing::counts;
  return kinds.ones >= n / 8 ? Packing::mixed : Packing::plain;
}

inline void pack_counts(const float* values, std::size_t n, std::uint8_t* out) noexcept {
  for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<std::uint8_t>(values[k]);
}
inline void unpack_counts(const std::uint8_t* counts, std::size_t n, float* out) noexcept {
  for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<float>(counts[k]);
}

// A bit for each value, set where it is not 1; those that are not, one behind another. Values come in pieces
// of any length. `others` has room for one more than there are; bits are zero at first.
class MixedPacker {
 public:
  MixedPacker(std::uint8_t* bits, float* others) noexcept : bits_(bits), others_(others) {}

  void add(const float* values, std::size_t n) noexcept {
    std::size_t k = 0;
    for (; k < n && at_ % 8 != 0; ++k) one(values[k]);
    for (; k + 8 <= n; k += 8, at_ += 8) {
      unsigned eight = 0;
      for (unsigned i = 0; i < 8; ++i) eight |= keep(values[k + i]) << i;
      bits_[at_ / 8] = static_cast<std::uint8_t>(eight);
    }
    for (; k < n; ++k) one(values[k]);
  }

 private:
  unsigned keep(float value) noexcept {
    const unsigned other = std::bit_cast<std::uint32_t>(value) != std::bit_cast<std::uint32_t>(1.0f);
    *others_ = value;
    others_ += other;
    return other;
  }
  void one(float value) noexcept {
    bits_[at_ / 8] = static_cast<std::uint8_t>(bits_[at_ / 8] | keep(value) << (at_ % 8));
    ++at_;
  }

  std::uint8_t* bits_;
  float* others_;
  std::size_t at_ = 0;
};

// The way back. False: there are more or fewer others than bits.
inline bool unpack_mixed(const std::uint8_t* bits, std::size_t n, const float* others, std::size_t n_others,
                         float* out) noexcept {
  const float* const end = others + n_others;
  std::size_t k = 0;
  for (; k + 8 <= n && end - others >= 8; k += 8) {
    const unsigned eight = bits[k / 8];
    if (eight == 0xff) {
      std::memcpy(out + k, others, 8 * sizeof(float));
      others += 8;
      continue;
    }
    for (unsigned i = 0; i < 8; ++i) {
      const unsigned other = eight >> i & 1;
      const float both[2] = {1.0f, *others};
      out[k + i] = both[other];
      others += other;
    }
  }
  for (; k < n; ++k) {
    const bool other = bits[k / 8] >> (k % 8) & 1;
    if (other && others == end) return false;
    out[k] = other ? *others++ : 1.0f;
  }
  return others == end;
}

}  // namespace riata
