// Names of features, one allocation each: a row of the table owns its name through a word of its own.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace riata {

// 0 where memory is exhausted.
inline std::uint64_t keep_name(std::string_view name) noexcept {
  auto* memory = static_cast<char*>(std::malloc(sizeof(std::uint32_t) + name.size()));
  if (memory == nullptr) return 0;
  const auto size = static_cast<std::uint32_t>(name.size());
  std::memcpy(memory, &size, sizeof size);
  std::memcpy(memory + sizeof size, name.data(), name.size());
  return reinterpret_cast<std::uint64_t>(memory);
}

inline std::string_view name_at(std::uint64_t word) noexcept {
  if (word == 0) return {};
  const char* memory = reinterpret_cast<const char*>(word);
  std::uint32_t size;
  std::memcpy(&size, memory, sizeof size);
  return {memory + sizeof size, size};
}

inline void drop_name(std::uint64_t word) noexcept { std::free(reinterpret_cast<void*>(word)); }

}  // namespace riata
