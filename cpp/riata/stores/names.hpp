// Names of features, as the rows of a table own them: each by a word of the row.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

namespace riata {

// Names lie in pieces of a few fixed sizes. Those of the dead are used again, the last one first. A word is
// the number of a piece and the length of the name, so that a name can go without being looked at.
class NameArena {
 public:
  // 0 where memory is exhausted.
  std::uint64_t keep(std::string_view name) noexcept {
    const std::size_t size = name.size();
    if (size > kLongest) return 0;
    std::uint32_t unit;
    if (size <= kShort) {
      const std::size_t units = units_of(size);
      unit = free_[units];
      if (unit != 0) {
        std::memcpy(&free_[units], at(unit), sizeof unit);
      } else if (unit = next_piece(units); unit == 0) {
        return 0;
      }
      std::memcpy(at(unit), name.data(), size);
    } else if (unit = keep_long(name); unit == 0) {
      return 0;
    }
    return static_cast<std::uint64_t>(unit) << 32 | size;
  }

  std::string_view name(std::uint64_t word) const noexcept {
    const auto unit = static_cast<std::uint32_t>(word >> 32);
    const auto size = static_cast<std::uint32_t>(word);
    if (unit == 0) return {};
    return {size <= kShort ? at(unit) : long_[unit - 1].get(), size};
  }

  void drop(std::uint64_t word) noexcept {
    const auto unit = static_cast<std::uint32_t>(word >> 32);
    const auto size = static_cast<std::uint32_t>(word);
    if (unit == 0) return;
    if (size > kShort) {
      long_[unit - 1].reset();
      free_long_.push_back(unit);  // has room for all of them
      return;
    }
    std::uint32_t& free = free_[units_of(size)];
    std::memcpy(at(unit), &free, sizeof free);
    free = unit;
  }

 private:
  static constexpr std::size_t kUnit = 8;                      // bytes
  static constexpr std::size_t kChunk = std::size_t{1} << 13;  // units
  static constexpr std::size_t kShort = 256;                   // longer names have memory of their own
  static constexpr std::size_t kLongest = (std::size_t{1} << 31) - 1;

  static std::size_t units_of(std::size_t size) noexcept {
    return size == 0 ? 1 : (size + kUnit - 1) / kUnit;
  }
  char* at(std::uint32_t unit) const noexcept { return chunks_[unit / kChunk].get() + unit % kChunk * kUnit; }

  // The next piece of so many units, or 0, which is no piece: unit 0 stays unused.
  std::uint32_t next_piece(std::size_t units) noexcept {
    if (next_ % kChunk + units > kChunk || next_ / kChunk >= chunks_.size()) {
      const std::size_t first = chunks_.size() * kChunk;
      if (first + kChunk > std::size_t{UINT32_MAX}) return 0;
      std::unique_ptr<char[]> chunk(new (std::nothrow) char[kChunk * kUnit]);
      if (chunk == nullptr) return 0;
      try {
        chunks_.push_back(std::move(chunk));
      } catch (const std::bad_alloc&) {
        return 0;
      }
      next_ = first == 0 ? 1 : first;
    }
    const auto unit = static_cast<std::uint32_t>(next_);
    next_ += units;
    return unit;
  }

  std::uint32_t keep_long(std::string_view name) noexcept {
    std::unique_ptr<char[]> memory(new (std::nothrow) char[name.size()]);
    if (memory == nullptr) return 0;
    std::memcpy(memory.get(), name.data(), name.size());
    if (free_long_.empty()) {
      try {
        free_long_.reserve(2 * long_.size() + 1);
        long_.emplace_back();
      } catch (const std::bad_alloc&) {
        return 0;
      }
      free_long_.push_back(static_cast<std::uint32_t>(long_.size()));
    }
    const std::uint32_t unit = free_long_.back();
    free_long_.pop_back();
    long_[unit - 1] = std::move(memory);
    return unit;
  }

  std::vector<std::unique_ptr<char[]>> chunks_, long_;
  std::vector<std::uint32_t> free_long_;
  std::size_t next_ = 0;                         // unit
  std::uint32_t free_[kShort / kUnit + 1] = {};  // the first free piece of each size; each holds the next
};

}  // namespace riata
