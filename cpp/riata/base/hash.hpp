// Keys of features. A key has 63 bits: an index as it is, or the hash of a name.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace riata {

inline constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 63) - 1;

constexpr std::uint64_t fold(std::uint64_t a,
                             std::uint64_t b) noexcept {  // the two halves of the product, mixed
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

inline constexpr std::uint64_t kHashSeed = 0x2545f4914f6cdd1dULL;

// Which of many hash functions gives names their keys. The default one is the same everywhere and for ever,
// but known to everybody: where a factor of `fold` is made zero, say by a second word that is b below, all
// names that go on the same way get one key, whatever the first word is. Neither factor can be chosen by
// somebody who does not know the two words of the key.
struct HashKey {
  std::uint64_t seed = 0, second = 0;
  bool operator==(const HashKey&) const = default;
};

// n bytes, up to 8, as a word with zeros behind them: no byte beyond is read, and no call is made.
inline std::uint64_t word_of(const char* p, std::size_t n) noexcept {
  const auto byte = [&](std::size_t at) {
    return static_cast<std::uint64_t>(static_cast<std::uint8_t>(p[at])) << (8 * at);
  };
  if (n >= 8) {
    std::uint64_t all;
    std::memcpy(&all, p, 8);
    return all;
  }
  if (n >= 4) {
    std::uint32_t first, last;  // they overlap
    std::memcpy(&first, p, 4);
    std::memcpy(&last, p + n - 4, 4);
    return first | static_cast<std::uint64_t>(last) << (8 * (n - 4));
  }
  return n == 0 ? 0 : byte(0) | byte(n / 2) | byte(n - 1);
}

// The 63-bit key of a name: 16 bytes a step, the same on every machine with little-endian words.
inline std::uint64_t key_of_name(const char* data, std::size_t size, HashKey key = {}) noexcept {
  constexpr std::uint64_t a = 0xa0761d6478bd642fULL;
  const std::uint64_t b = 0xe7037ed1a0b428dbULL ^ key.second;
  std::uint64_t hash = kHashSeed ^ key.seed ^ fold(static_cast<std::uint64_t>(size) ^ a, b);
  for (; size > 16; data += 16, size -= 16)
    hash = fold(word_of(data, 8) ^ a ^ hash, word_of(data + 8, 8) ^ b);
  const std::uint64_t low = word_of(data, size);
  const std::uint64_t high = size > 8 ? word_of(data + 8, size - 8) : 0;
  return fold(low ^ a ^ hash, high ^ b ^ hash) >> 1;
}

// The same for a name behind which 16 bytes more are readable, whatever they hold: no copies, no branches on
// the last few bytes.
inline std::uint64_t key_of_padded_name(const char* data, std::size_t size) noexcept {
  constexpr std::uint64_t a = 0xa0761d6478bd642fULL, b = 0xe7037ed1a0b428dbULL;
  std::uint64_t hash = kHashSeed ^ fold(static_cast<std::uint64_t>(size) ^ a, b);
  std::uint64_t low = 0, high = 0;
  for (; size > 16; data += 16, size -= 16) {
    std::memcpy(&low, data, 8);
    std::memcpy(&high, data + 8, 8);
    hash = fold(low ^ a ^ hash, high ^ b);
  }
  std::memcpy(&low, data, 8);
  std::memcpy(&high, data + 8, 8);
  const std::uint64_t all = ~std::uint64_t{0};
  low &= size >= 8 ? all : ~(all << (8 * (size & 7)));
  high &= size >= 16 ? all : size <= 8 ? 0 : ~(all << (8 * (size & 7)));
  return fold(low ^ a ^ hash, high ^ b ^ hash) >> 1;
}

// The key of a name in two parts, which are put together nowhere: a byte at a time, so for few of them.
inline std::uint64_t key_of_joined(std::string_view front, std::string_view back) noexcept {
  constexpr std::uint64_t a = 0xa0761d6478bd642fULL, b = 0xe7037ed1a0b428dbULL;
  std::size_t size = front.size() + back.size(), at = 0;
  std::uint64_t hash = kHashSeed ^ fold(static_cast<std::uint64_t>(size) ^ a, b);
  const auto word = [&](std::size_t count) noexcept {
    std::uint64_t w = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
      const char c = at < front.size() ? front[at] : back[at - front.size()];
      w |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << (8 * i);
    }
    return w;
  };
  for (; size > 16; size -= 16) {
    const std::uint64_t low = word(8), high = word(8);
    hash = fold(low ^ a ^ hash, high ^ b);
  }
  const std::uint64_t low = word(size < 8 ? size : 8), high = size > 8 ? word(size - 8) : 0;
  return fold(low ^ a ^ hash, high ^ b ^ hash) >> 1;
}

// What the two words of a name of at most 16 bytes are mixed with before they are multiplied.
constexpr void key_seeds(std::size_t size, std::uint64_t& low, std::uint64_t& high,
                         HashKey key = {}) noexcept {
  constexpr std::uint64_t a = 0xa0761d6478bd642fULL;
  const std::uint64_t b = 0xe7037ed1a0b428dbULL ^ key.second;
  const std::uint64_t hash = kHashSeed ^ key.seed ^ fold(static_cast<std::uint64_t>(size) ^ a, b);
  low = a ^ hash;
  high = b ^ hash;
}

// The key of a name of at most 16 bytes, given as two words with zeros behind it.
inline std::uint64_t key_of_words(std::uint64_t low, std::uint64_t high, std::size_t size) noexcept {
  std::uint64_t a = 0, b = 0;
  key_seeds(size, a, b);
  return fold(low ^ a, high ^ b) >> 1;
}

// Scatters keys over 63 bits, by their high bits. One to one, so that a key can be had back: no two features
// ever collide.
inline std::uint64_t scatter(std::uint64_t key) noexcept {
  return ((key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL) & kKeyMask;
}

constexpr std::uint64_t inverse_of_odd(std::uint64_t a) noexcept {  // modulo 2^64, so modulo 2^63 too
  std::uint64_t x = a;
  for (int i = 0; i < 6; ++i) x *= 2 - a * x;
  return x;
}

inline std::uint64_t gather_back(std::uint64_t scattered) noexcept {  // the inverse of scatter
  const std::uint64_t key = (scattered * inverse_of_odd(0x9e3779b97f4a7c15ULL)) & kKeyMask;
  return key ^ (key >> 32);
}

}  // namespace riata
