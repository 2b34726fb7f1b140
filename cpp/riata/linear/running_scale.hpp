// The running root mean square of features (feature_scale.hpp) in a store of its own, for learners that are given scaled
// values.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "riata/base/key_order.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/model.hpp"

namespace riata {

class RunningScale : public ScaleSums {
 public:
  // The values of the rows of a Block, n of them in this order, into `out`, which has room for all of them. Rows of
  // no weight are scaled, and not learned.
  template <class Index>
  Outcome learn(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n, float* out) noexcept {
    using Status = Outcome::Status;
    return each_example(b, order, n, [&](std::int64_t i, std::int64_t r) -> Outcome {
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (b.weights != nullptr && !(b.weights[r] > 0)) {
        scale_values(b.indices + begin, b.values + begin, end - begin, out + begin);
        return {Status::ok, i};
      }
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (!possible(key)) return {Status::bad_index, i};
        double* const row = room_for(key);
        if (row == nullptr) return {Status::out_of_memory, i};
        const double x = b.values[k];
        if (std::isfinite(x)) {  // if not, the learner refuses the row
          row[0] += x != 0;
          row[1] += x * x;
        }
        out[k] = static_cast<float>(x / root_of_sums(row));
      }
      return {Status::ok, i};
    });
  }
  virtual std::uint64_t bytes() const noexcept = 0;

  mutable ModelLock guard;

 protected:
  virtual bool possible(std::uint64_t key) const noexcept = 0;
  virtual double* room_for(std::uint64_t key) noexcept = 0;  // null: memory is exhausted
};

template <AnyStore Store>
class StoredScale final : public RunningScale {
 public:
  explicit StoredScale(int bits) : store_(kScaleSums, bits) {}

  Rows scale_sums() const override {
    const auto all = by_ascending_key<const double*>([&](auto visit) {
      store_.for_each([&](std::uint64_t key, const double* row) {
        if (row[0] != 0) visit(key, row);
      });
    });
    Rows out;
    for (const auto& [key, row] : all) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      out.values.insert(out.values.end(), row, row + kScaleSums);
    }
    return out;
  }
  bool set_scale_sums(const std::int64_t* keys, const double* sums, std::int64_t n) noexcept override {
    for (std::int64_t i = 0; i < n; ++i) {
      double* const row = store_.restore(static_cast<std::uint64_t>(keys[i]), {});
      if (row == nullptr) return false;
      std::memcpy(row, sums + kScaleSums * i, kScaleSums * sizeof(double));
    }
    return true;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

 private:
  const double* sums_of(std::uint64_t key) const noexcept override {
    return store_.possible(key) ? std::as_const(store_).find(key) : nullptr;
  }
  const double* saved_sums(std::uint64_t key) const noexcept override {
    if constexpr (Store::kDirect && !Store::kDistinct)
      return store_.place(key);
    else
      return sums_of(key);
  }
  bool possible(std::uint64_t key) const noexcept override { return store_.possible(key); }
  double* room_for(std::uint64_t key) noexcept override {
    if constexpr (Store::kDirect) {
      if (!store_.reserve(key)) return nullptr;
      if (store_.tracks_writes()) store_.note_write(key);
      return store_.at(key);
    } else {
      double* row = store_.find(key);
      if (row != nullptr) return row;
      row = store_.insert(key, {});
      if (row != nullptr) row[0] = row[1] = 0;
      return row;
    }
  }

  Store store_;
};

}  // namespace riata
