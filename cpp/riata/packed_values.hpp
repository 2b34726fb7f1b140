// Values in fewer bytes, to the last bit: most features are there or not (1), or are counted.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace riata {

enum class Packing { ones, counts, mixed, plain };

inline constexpr std::uint32_t kOneBits = std::bit_cast<std::uint32_t>(1.0f);

// The byte for a whole number from 1 to 255; 0 for anything else.
inline std::uint32_t count_of(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const float held = bits < std::bit_cast<std::uint32_t>(256.0f) ? value : 0.0f;  // not -1, not NaN
  const auto count = static_cast<std::uint32_t>(static_cast<std::int32_t>(held));
  return std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(count))) == bits ? count
                                                                                                    : 0;
}

struct ValueKinds {
  std::size_t all = 0, ones = 0, counts = 0;  // of which so many are 1, are 1 to 255

  void add(const float* values, std::size_t n) noexcept {
    all += n;
    for (std::size_t k = 0; k < n; ++k) {
      ones += std::bit_cast<std::uint32_t>(values[k]) == kOneBits;
      counts += count_of(values[k]) != 0;
    }
  }
  // The one with the fewest bytes.
  Packing best() const noexcept {
    if (ones == all) return Packing::ones;
    const std::size_t plain = 4 * all, bytes = all + 4 * (all - counts), bits = all / 8 + 4 * (all - ones);
    if (bytes < plain && bytes <= bits) return Packing::counts;
    return bits < plain ? Packing::mixed : Packing::plain;
  }
};

// A byte for each value; those that are no counts, which have the byte 0, one behind another. Values come in
// pieces of any length. `others` has room for one more than there are.
class CountPacker {
 public:
  CountPacker(std::uint8_t* bytes, float* others) noexcept : bytes_(bytes), others_(others) {}

  void add(const float* values, std::size_t n) noexcept {
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t count = count_of(values[k]);
      *bytes_++ = static_cast<std::uint8_t>(count);
      *others_ = values[k];
      others_ += count == 0;
    }
  }
  std::size_t others(const float* from) const noexcept { return static_cast<std::size_t>(others_ - from); }

 private:
  std::uint8_t* bytes_;
  float* others_;
};

// The way back. False: there are more or fewer others than the bytes say.
inline bool unpack_counts(const std::uint8_t* bytes, std::size_t n, const float* others, std::size_t n_others,
                          float* out) noexcept {
  for (std::size_t k = 0; k < n; ++k) out[k] = static_cast<float>(bytes[k]);
  const float* const end = others + n_others;
  const std::uint8_t* const last = bytes + n;
  for (const std::uint8_t* at = bytes; at != last; ++at) {
    at = static_cast<const std::uint8_t*>(std::memchr(at, 0, static_cast<std::size_t>(last - at)));
    if (at == nullptr) break;
    if (others == end) return false;
    out[at - bytes] = *others++;
  }
  return others == end;
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
  std::size_t others(const float* from) const noexcept { return static_cast<std::size_t>(others_ - from); }

 private:
  unsigned keep(float value) noexcept {
    const unsigned other = std::bit_cast<std::uint32_t>(value) != kOneBits;
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
