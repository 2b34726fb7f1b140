// The running root mean square of features (feature_scale.hpp) in a store of its own, for learners that are given scaled
// values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

#include "riata/block/block.hpp"
#include "riata/linear/feature_scale.hpp"
#include "riata/linear/model.hpp"

namespace riata {

class RunningScale {
 public:
  virtual ~RunningScale() = default;
  // The values of the rows of a Block, n of them in this order, into `out`, which has room for all of them. Rows of
  // no weight are scaled, and not learned.
  virtual Outcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                        float* out) noexcept = 0;
  virtual Outcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                        float* out) noexcept = 0;
  // The values of n entries by what was learned, so that a score is linear in them; those of features never seen are 1 or
  // -1.
  virtual void apply(const std::int32_t* keys, const float* values, std::int64_t n,
                     float* out) const noexcept = 0;
  virtual void apply(const std::int64_t* keys, const float* values, std::int64_t n,
                     float* out) const noexcept = 0;
  // The root mean squares of features, by the keys that rows() gives; 1 of those never seen.
  virtual void roots(const std::int64_t* keys, std::int64_t n, double* out) const noexcept = 0;
  virtual Rows rows() const = 0;
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  mutable ModelLock guard;
};

template <AnyStore Store>
class StoredScale final : public RunningScale {
 public:
  static constexpr int kWidth = kScaleSums;

  explicit StoredScale(int bits) : store_(kWidth, bits) {}

  Outcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                float* out) noexcept override {
    return learn_rows(b, order, n, out);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                float* out) noexcept override {
    return learn_rows(b, order, n, out);
  }
  void apply(const std::int32_t* keys, const float* values, std::int64_t n,
             float* out) const noexcept override {
    scale_all(keys, values, n, out);
  }
  void apply(const std::int64_t* keys, const float* values, std::int64_t n,
             float* out) const noexcept override {
    scale_all(keys, values, n, out);
  }
  void roots(const std::int64_t* keys, std::int64_t n, double* out) const noexcept override {
    for (std::int64_t i = 0; i < n; ++i) out[i] = root_of_sums(saved(static_cast<std::uint64_t>(keys[i])));
  }
  Rows rows() const override {
    Rows out;
    store_.for_each([&](std::uint64_t key, const double* row) {
      if (row[0] == 0) return;
      out.keys.push_back(static_cast<std::int64_t>(key));
    });
    std::sort(out.keys.begin(), out.keys.end());
    out.values.resize(kWidth * out.keys.size());
    for (std::size_t i = 0; i < out.keys.size(); ++i) {
      const double* row = saved(static_cast<std::uint64_t>(out.keys[i]));
      std::memcpy(out.values.data() + kWidth * i, row, kWidth * sizeof(double));
    }
    return out;
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept override {
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]), {});
      if (row == nullptr) return false;
      std::memcpy(row, values + kWidth * i, kWidth * sizeof(double));
    }
    return true;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

 private:
  using Status = Outcome::Status;

  const double* find(std::uint64_t key) const noexcept {
    return store_.possible(key) ? std::as_const(store_).find(key) : nullptr;
  }
  // The row that for_each knows by this key: in a hashed store that is its place.
  const double* saved(std::uint64_t key) const noexcept {
    if constexpr (Store::kDirect && !Store::kDistinct)
      return store_.place(key);
    else
      return find(key);
  }
  double* room_for(std::uint64_t key) noexcept {
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

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     float* out) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (b.weights != nullptr && !(b.weights[r] > 0)) {
        scale_all(b.indices + begin, b.values + begin, end - begin, out + begin);
        continue;
      }
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (!store_.possible(key)) return {Status::bad_index, i};
        double* row = room_for(key);
        if (row == nullptr) return {Status::out_of_memory, i};
        const double x = b.values[k];
        if (std::isfinite(x)) {  // if not, the learner refuses the row
          row[0] += x != 0;
          row[1] += x * x;
        }
        out[k] = static_cast<float>(x / root_of_sums(row));
      }
    }
    return {Status::ok, n};
  }

  template <class Index>
  void scale_all(const Index* keys, const float* values, std::int64_t n, float* out) const noexcept {
    for (std::int64_t k = 0; k < n; ++k)
      out[k] = value_by_sums(find(static_cast<std::uint64_t>(keys[k])), values[k]);
  }

  Store store_;
};

}  // namespace riata
