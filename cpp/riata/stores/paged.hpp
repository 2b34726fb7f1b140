// The dense store of models whose features may be spread over billions of indices: an array of rows while
// that is small; beyond, the array in pieces, of which only those that were written to take memory. They lie
// side by side, so that the processor finds them as fast as an array of that size, and a list says where.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "riata/base/zero_pages.hpp"
#include "riata/stores/dense.hpp"

namespace riata {

class PagedStore : private DenseStore {
 public:
  static constexpr bool kDirect = true;
  static constexpr bool kDistinct = true;
  static constexpr bool kGroups = true;
  static constexpr std::uint64_t kPiece = 32;  // rows

  PagedStore(int width, int bits) noexcept
      : DenseStore(width, bits), width_(static_cast<std::uint64_t>(width)) {}

  using DenseStore::possible;
  bool paged() const noexcept { return limit_ != 0; }
  // Sizes are powers of two: some indices lie inside where their bitwise or does.
  bool inside(std::uint64_t index) const noexcept {
    return paged() ? index < limit_ : DenseStore::inside(index);
  }
  std::uint64_t mask() const noexcept { return paged() ? limit_ - 1 : DenseStore::mask(); }
  // The row is there to be written to.
  bool has(std::uint64_t index) const noexcept {
    return paged() ? index < limit_ && places()[index / kPiece] != 0 : DenseStore::inside(index);
  }

  // Where the rows of an inside index lie, counted from base(): in pieces, piece 0 stands for all that were
  // never written to.
  double* base() const noexcept { return paged() ? pieces_.as<double>() : DenseStore::at(0); }
  const std::uint32_t* places() const noexcept { return places_.as<std::uint32_t>(); }
  static std::uint64_t row_in(const std::uint32_t* places, std::uint64_t index) noexcept {
    return places[index / kPiece] * kPiece + index % kPiece;
  }
  double* at(std::uint64_t index) const noexcept {
    return paged() ? base() + row_in(places(), index) * width_ : DenseStore::at(index);
  }
  const double* find(std::uint64_t index) const noexcept { return inside(index) ? at(index) : nullptr; }

  bool tracks_writes() const noexcept { return !paged() && DenseStore::tracks_writes(); }
  using DenseStore::note_write;

  // Makes room to write to a possible index. False: memory is exhausted.
  bool reserve(std::uint64_t index) noexcept {
    const std::uint64_t rows = std::bit_ceil(index + 1);
    if (!paged() && rows * width_ * sizeof(double) <= kArray) return DenseStore::reserve(index);
    if (index >= limit_ && !widen(rows)) return false;
    return places()[index / kPiece] != 0 || add_piece(index / kPiece);
  }
  double* restore(std::uint64_t index, std::string_view name) noexcept {
    if (!possible(index)) return nullptr;
    if (!has(index) && !reserve(index)) return nullptr;
    return paged() ? at(index) : DenseStore::restore(index, name);
  }

  template <class Visit>  // visit(index, row), ascending, for every row that may have been written
  void for_each(Visit visit) const {
    if (!paged()) return DenseStore::for_each(visit);
    const std::uint64_t pieces = limit_ / kPiece;
    for (std::uint64_t first = 0; first < pieces; first += kRun) {
      if (runs_.as<std::uint8_t>()[first / kRun] == 0) continue;
      for (std::uint64_t piece = first; piece < first + kRun && piece < pieces; ++piece) {
        if (places()[piece] == 0) continue;
        for (std::uint64_t i = piece * kPiece; i < (piece + 1) * kPiece; ++i) visit(i, at(i));
      }
    }
  }

  std::uint64_t bytes() const noexcept {
    return paged() ? used_ * kPiece * width_ * sizeof(double) + places_.bytes() + runs_.bytes()
                   : DenseStore::bytes();
  }

 private:
  static constexpr std::uint64_t kRun = 1024;                      // places: a page of memory
  static constexpr std::uint64_t kArray = std::uint64_t{1} << 26;  // bytes

  // Indices up to `rows`, a power of two. The first time, what the array holds moves over.
  bool widen(std::uint64_t rows) noexcept {
    if (!places_.grow(rows / kPiece * sizeof(std::uint32_t)) || !runs_.grow(rows / kPiece / kRun + 1))
      return false;
    if (!paged()) {
      used_ = 1;
      std::uint64_t last = 0;  // the piece that was last made
      bool ok = true;
      DenseStore::for_each([&](std::uint64_t i, const double* row) {
        if (!ok || blank(row)) return;
        if (used_ == 1 || i / kPiece != last) ok = add_piece(last = i / kPiece);
        if (ok)
          std::memcpy(pieces_.as<double>() + row_in(places(), i) * width_, row, width_ * sizeof(double));
      });
      if (!ok) {
        places_ = ZeroPages();
        pieces_ = ZeroPages();
        runs_ = ZeroPages();
        return false;
      }
      DenseStore::clear();
    }
    limit_ = rows;
    return true;
  }
  bool blank(const double* row) const noexcept {
    for (std::uint64_t c = 0; c < width_; ++c)
      if (row[c] != 0) return false;
    return true;
  }
  bool add_piece(std::uint64_t piece) noexcept {
    if (used_ == UINT32_MAX || !pieces_.grow_packed((used_ + 1) * kPiece * width_ * sizeof(double)))
      return false;
    places_.as<std::uint32_t>()[piece] = static_cast<std::uint32_t>(used_++);
    runs_.as<std::uint8_t>()[piece / kRun] = 1;
    return true;
  }

  ZeroPages places_, pieces_;
  ZeroPages runs_;  // which stretches of places were written to: billions of them must not be walked through
  std::uint64_t width_;
  std::uint64_t limit_ = 0;  // indices below it are inside; 0: still an array
  std::uint64_t used_ = 0;   // pieces, the empty one included
};

}  // namespace riata
