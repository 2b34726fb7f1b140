// A model that is learned one example at a time, as bindings see it: what linear and Bayesian models and portfolios share.
// OverStore is the part of it that only needs the store.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "riata/base/key_order.hpp"
#include "riata/base/model_lock.hpp"
#include "riata/block/block.hpp"
#include "riata/stores/store.hpp"

namespace riata {

struct Outcome {
  enum class Status { ok, bad_block, bad_index, mixed_names, out_of_memory, diverged };
  Status status = Status::ok;
  std::int64_t done = 0;  // examples finished; state holds exactly these
};

// What a model file keeps: rows as key and state, side by side.
struct Rows {
  std::vector<std::int64_t> keys;
  std::vector<double> values;  // keys.size() x width
};

struct Names {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> offsets;  // one more than there are names
};

class Model {
 public:
  virtual ~Model() = default;
  // `scores` of each example just before it was learned: n rows, as wide as a prediction.
  virtual Outcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome score(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome score(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;

  virtual Rows rows() const = 0;  // live rows as they are stored: width = row_width()
  virtual int row_width() const noexcept = 0;
  // Whether set_rows can take rows of this width.
  virtual bool fits(std::int64_t, int width) const noexcept { return width == row_width(); }
  // Names: null where features are numbered. False: the rows do not fit this store, or memory is exhausted.
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                        const std::int64_t* name_offsets) noexcept = 0;
  virtual bool named() const noexcept = 0;
  virtual Names names(const std::int64_t* keys, std::int64_t n) const = 0;
  virtual std::int64_t live_weights() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  // Learning takes it alone, scoring together: two Python threads must not change one model at once.
  mutable ModelLock guard;

  std::vector<double> intercept;
  std::uint64_t t = 0;        // examples learned
  std::int64_t features = 0;  // 1 + the largest index learned
};

// The loop of learning: visit(i, r) learns row r of the block as the i-th of n, and says how that went.
template <class Index, class Visit>
Outcome each_example(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     Visit visit) noexcept {
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return {Outcome::Status::bad_block, i};
    if (const Outcome outcome = visit(i, r); outcome.status != Outcome::Status::ok) return outcome;
  }
  return {Outcome::Status::ok, n};
}

// Blocks with 32-bit indices and with 64-bit ones go through the same templates of a Self: learn_rows and
// score_rows.
template <class Self, class Base>
class BothIndices : public Base {
 public:
  using Base::Base;

  Outcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return self().learn_rows(b, order, n, scores);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return self().learn_rows(b, order, n, scores);
  }
  Outcome score(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return self().score_rows(b, scores);
  }
  Outcome score(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return self().score_rows(b, scores);
  }

 protected:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

// What a model over a store can say without knowing what its rows mean. Base is a Model.
template <class Base, AnyStore Store>
class OverStore : public Base {
 public:
  template <class... Given>  // what Base is made from
  OverStore(int width, int bits, const Given&... given)
      : Base(given...), store_(width, bits), stored_width_(width) {}

  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                const std::int64_t* name_offsets) noexcept override {
    BlockView<std::int64_t> b;
    b.names = names;
    b.name_offsets = name_offsets;
    if (!same_kind(b)) return false;
    const int width = this->row_width();
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]), b.name(i));
      if (row == nullptr) return false;
      std::copy(values + i * width, values + (i + 1) * width, row);
      std::fill(row + width, row + stored_width_, 0.0);
    }
    return true;
  }
  bool named() const noexcept override {
    if constexpr (!Store::kDirect) return store_.named();
    return false;
  }
  Names names(const std::int64_t* keys, std::int64_t n) const override {
    const auto name = [&](std::int64_t i) { return name_of(static_cast<std::uint64_t>(keys[i])); };
    Names out;
    out.offsets.reserve(static_cast<std::size_t>(n) + 1);
    out.offsets.push_back(0);
    for (std::int64_t i = 0; i < n; ++i)
      out.offsets.push_back(out.offsets.back() + static_cast<std::int64_t>(name(i).size()));
    out.bytes.reserve(static_cast<std::size_t>(out.offsets.back()));
    for (std::int64_t i = 0; i < n; ++i) out.bytes.insert(out.bytes.end(), name(i).begin(), name(i).end());
    return out;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

 protected:
  // A table holds names of all its rows or of none.
  template <class Index>
  bool same_kind(const BlockView<Index>& b) noexcept {
    if constexpr (!Store::kDirect) {
      if (b.named()) return store_.set_named();
      return !store_.named();
    }
    return true;
  }

  std::string_view name_of(std::uint64_t key) const noexcept {
    if constexpr (!Store::kDirect) return store_.name(key);
    return {};
  }

  // How many rows are wanted, so that no more memory is taken than they need.
  template <class Wanted>
  std::size_t count(Wanted wanted) const {
    std::size_t size = 0;
    store_.for_each([&](std::uint64_t, const double* row) { size += wanted(row) ? 1 : 0; });
    return size;
  }

  // The rows that are wanted, by ascending key.
  template <class Wanted>
  std::vector<std::pair<std::uint64_t, const double*>> found(Wanted wanted) const {
    return by_ascending_key<const double*>([&](auto visit) {
      store_.for_each([&](std::uint64_t key, const double* row) {
        if (wanted(row)) visit(key, row);
      });
    });
  }

  // Those rows, each as write(row, to) puts it into `width` numbers.
  template <class Wanted, class Write>
  Rows collect(int width, Wanted wanted, Write write) const {
    Rows out;
    double* next = nullptr;
    const auto make_room = [&](std::size_t size) {
      out.keys.reserve(size);
      out.values.resize(size * static_cast<std::size_t>(width));
      next = out.values.data();
    };
    const auto add = [&](std::uint64_t key, const double* row) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      write(row, next);
      next += width;
    };
    if constexpr (Store::kDirect) {  // which has them by ascending key
      make_room(count(wanted));
      store_.for_each([&](std::uint64_t key, const double* row) {
        if (wanted(row)) add(key, row);
      });
    } else {
      const auto all = found(wanted);
      make_room(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (i + kAhead < all.size()) __builtin_prefetch(all[i + kAhead].second);
        add(all[i].first, all[i].second);
      }
    }
    return out;
  }

  Store store_;
  int stored_width_;  // of a row; what is beyond row_width() is not in rows()

 private:
  static constexpr std::size_t kAhead = 16;  // rows to fetch before they are read
};

}  // namespace riata
