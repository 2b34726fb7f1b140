#include "riata/bayesian.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>

#include "riata/bayesian_room.hpp"
#include "riata/bayesian_steps.hpp"
#include "riata/bayesian_stored.hpp"
#include "riata/bayesian_taylor.hpp"
#include "riata/mixture.hpp"
#include "riata/stores/dense.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/table.hpp"

namespace riata {

namespace {

bool is_plain(const BayesianSpec& s) {
  return s.update == "marginal" && s.link == "logit" && s.mean == "taylor" && s.variance == "curvature";
}

template <class Store>
class BayesianOf final : public StoredBayesian<Store> {
 public:
  BayesianOf(const BayesianSpec& spec, int columns, Step step)
      : StoredBayesian<Store>(spec, columns),
        v_(static_cast<int>(spec.views.size())),
        raw_(spec.views.size() == 1 && spec.views[0] == View::raw),
        plain_(is_plain(spec)),
        named_(spec),
        mixture_(spec.outputs, v_, static_cast<int>(spec.prior_variances.size()), spec.link, spec.share,
                 spec.half_life),
        step_(step),
        room_(columns) {
    log_evidence.assign(static_cast<std::size_t>(spec.outputs * mixture_.components()), 0.0);
    blank_.assign(static_cast<std::size_t>(width_), 0.0);
    normals_.resize(static_cast<std::size_t>(spec.samples));
  }

  Outcome learn(const BlockView<std::int32_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, order, n, scores);
  }
  Outcome score(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }
  Outcome score(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return score_rows(b, scores);
  }
  Outcome moments(const BlockView<std::int32_t>& b, double* means,
                  double* variances) const noexcept override {
    return moments_of(b, means, variances);
  }
  Outcome moments(const BlockView<std::int64_t>& b, double* means,
                  double* variances) const noexcept override {
    return moments_of(b, means, variances);
  }

 private:
  using Status = Outcome::Status;
  using Bayesian::features, Bayesian::intercept, Bayesian::log_evidence, Bayesian::t, Bayesian::width_;
  using Base = StoredBayesian<Store>;
  using Base::k_, Base::now, Base::same_kind, Base::shape_, Base::spec_, Base::store_;

  // A feature that was never seen takes the prior that its name asks for.
  void give_prior(double* row, std::string_view name, std::uint64_t key) const noexcept {
    if (!shape_.blank(row)) return;
    const double* variance = named_.find(name, key);
    if (variance == nullptr) return;
    const double* common = shape_.precision(false);
    for (int c = 0; c < k_; ++c) shape_.own_precision(row)[c] = 1 / *variance - common[c];
  }

  // The rows of an example, those that are missing put there, brought current.
  template <class Index>
  Status locate(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    const std::int64_t first = spec_.fit_intercept ? 1 : 0;
    if (!room_.make(first + end - begin, k_, v_, 0)) return Status::out_of_memory;
    double** rows = room_.rows.data() + first;
    double* x = room_.x.data();
    if (first > 0) {
      room_.rows[0] = intercept.data();
      for (int v = 0; v < v_; ++v) *x++ = 1;
    }
    if constexpr (kArray<Index>) {
      if (raw_ && placed(b, begin, end, const_cast<const double**>(rows))) [[likely]] {
        const std::uint32_t largest = code_.lay_out(end - begin, b.indices + begin, b.values + begin, x);
        if (end > begin) features = std::max(features, std::int64_t{largest} + 1);
        if (named_.any() || shape_.forgets()) refresh(b, begin, end);
        return Status::ok;
      }
    }
    if constexpr (Store::kDirect) {
      std::uint64_t any = 0, largest = 0;
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        any |= key;
        largest = std::max(largest, key);
      }
      if (!store_.inside(any)) [[unlikely]] {
        if (!store_.possible(largest)) return Status::bad_index;
        if (!store_.inside(largest) && !store_.reserve(largest)) return Status::out_of_memory;
      }
      for (std::int64_t k = begin; k < end; ++k)
        *rows++ = store_.at(static_cast<std::uint64_t>(b.indices[k]));
      if (store_.marks())
        for (std::int64_t k = begin; k < end; ++k) store_.mark(static_cast<std::uint64_t>(b.indices[k]));
      if (b.names == nullptr && end > begin)
        features = std::max(features, static_cast<std::int64_t>(largest) + 1);
    } else {
      if (const Status status = look_up(b, begin, end, rows); status != Status::ok) return status;
    }
    if (raw_)
      for (std::int64_t k = begin; k < end; ++k) *x++ = static_cast<double>(b.values[k]);
    else
      for (std::int64_t k = begin; k < end; ++k) x = view(static_cast<double>(b.values[k]), x);
    if (named_.any() || shape_.forgets()) refresh(b, begin, end);
    return Status::ok;
  }

  // Whether rows lie at multiples of 32-bit numbers.
  template <class Index>
  static constexpr bool kArray = std::is_same_v<Store, DenseStore> && sizeof(Index) == 4;

  // Where the rows are, if all are there and no chunk must be marked.
  template <class Index>
  bool placed(const BlockView<Index>& b, std::int64_t begin, std::int64_t end,
              const double** rows) const noexcept {
    if (store_.marks() || b.names != nullptr) return false;
    const auto bytes = static_cast<std::uint64_t>(width_) * sizeof(double);
    const std::uint32_t any = code_.places(end - begin, b.indices + begin,
                                           reinterpret_cast<const char*>(store_.at(0)), bytes, rows);
    return any <= kLargestIndex && store_.inside(any);
  }

  // The same in a table, where rows must be looked for.
  template <class Index>
  Status look_up(const BlockView<Index>& b, std::int64_t begin, std::int64_t end, double** rows) noexcept {
    std::uint64_t largest = 0;
    bool born = false;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      largest = std::max(largest, key);
      if (!store_.possible(key)) [[unlikely]]
        return Status::bad_index;
      double*& row = rows[k - begin];
      row = store_.find(key);
      if (row == nullptr) {
        row = store_.insert(key, b.name(k));
        if (row == nullptr) return Status::out_of_memory;
        std::fill(row, row + width_, 0.0);
        born = true;
      }
      // Brought current at once: a row that is has nothing to fear from births that follow.
      if (shape_.forgets()) shape_.settle(row, shape_.precision(false), now());
    }
    if (end > begin && b.names == nullptr)
      features = std::max(features, static_cast<std::int64_t>(largest) + 1);
    // Where births have moved the first row, they have moved all.
    if (born && store_.find(static_cast<std::uint64_t>(b.indices[begin])) != rows[0])
      for (std::int64_t k = begin; k < end; ++k)
        rows[k - begin] = store_.find(static_cast<std::uint64_t>(b.indices[k]));
    return Status::ok;
  }

  template <class Index>
  void refresh(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    double** rows = room_.rows.data() + (spec_.fit_intercept ? 1 : 0);
    if (shape_.forgets() && spec_.fit_intercept)
      shape_.settle(intercept.data(), shape_.precision(true), now());
    for (std::int64_t k = begin; k < end; ++k) {
      double* row = *rows++;
      if (named_.any()) give_prior(row, b.name(k), static_cast<std::uint64_t>(b.indices[k]));
      if (shape_.forgets()) shape_.settle(row, shape_.precision(false), now());
    }
  }

  // Eq. 6 over the first n rows of the room.
  void sum_up(Room& room, std::int64_t n) const noexcept {
    if (plain_ && !shape_.own()) return code_.gather(as_taylor(room, n));
    Gathering g;
    g.rows = n;
    g.columns = k_;
    g.views = v_;
    g.state = room.rows.data();
    g.intercept_first = spec_.fit_intercept;
    g.own = shape_.own();
    g.x = room.x.data();
    g.precisions = shape_.precision(false);
    g.intercept_precisions = shape_.precision(true);
    g.mean = shape_.common_mean();
    g.variances = room.variances.data();
    g.means = room.means.data();
    g.spreads = room.spreads.data();
    gather(g);
  }

  Taylor as_taylor(Room& room, std::int64_t n, double weight = 1) const noexcept {
    Taylor out;
    out.rows = n;
    out.columns = k_;
    out.views = v_;
    out.state = room.rows.data();
    out.intercept_first = spec_.fit_intercept;
    out.x = room.x.data();
    out.precisions = shape_.precision(false);
    out.intercept_precisions = shape_.precision(true);
    out.mean = shape_.common_mean();
    out.variances = room.variances.data();
    out.means = room.means.data();
    out.spreads = room.spreads.data();
    out.y = room.y.data();
    out.weight = weight;
    for (std::size_t j = 0; k_ == 1 && j < 8; ++j) {  // rows are taken eight at a time
      room.rows[static_cast<std::size_t>(n) + j] = const_cast<double*>(blank_.data());
      room.x[static_cast<std::size_t>(n) + j] = 0;
    }
    return out;
  }

  double* view(double value, double* x) const noexcept {
    if (raw_) [[likely]] {
      *x = value;
      return x + 1;
    }
    for (const View how : spec_.views) *x++ = seen_as(how, value);
    return x;
  }

  // What the next examples will look at. In a table first the directory, and one example later, when it has
  // come, the rows.
  template <class Index>
  void prefetch(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
                std::int64_t n) noexcept {
    [[maybe_unused]] const auto each = [&](std::int64_t which, auto visit) {
      if (which >= n) return;
      const std::int64_t r = order == nullptr ? which : order[which];
      if (!b.holds(r)) return;
      for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k)
        visit(static_cast<std::uint64_t>(b.indices[k]));
    };
    if constexpr (Store::kDirect) {
      room_.next_rows = 0;
      if (store_.bytes() <= kFetched || i + 1 >= n) return;
      const std::int64_t r = order == nullptr ? i + 1 : order[i + 1];
      if (!b.holds(r)) return;
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (end - begin > static_cast<std::int64_t>(room_.next.size())) return;
      const double** next = room_.next.data();
      if constexpr (kArray<Index>) {
        if (placed(b, begin, end, next)) room_.next_rows = end - begin;
        return;
      }
      for (std::int64_t k = begin; k < end; ++k) {
        const auto key = static_cast<std::uint64_t>(b.indices[k]);
        if (store_.inside(key)) *next++ = store_.at(key);
      }
      room_.next_rows = next - room_.next.data();
    } else {
      if (!store_.large()) return;
      each(i + 2, [&](std::uint64_t key) { store_.prefetch_entry(key); });
      each(i + 1, [&](std::uint64_t key) { store_.prefetch_row(key); });
    }
  }

  // Column c asks "is it class o?", a single output "is it class 1?".
  void ask(double label) noexcept {
    const auto priors = static_cast<int>(spec_.prior_variances.size());
    for (int c = 0; c < k_; ++c) {
      const int o = c / priors % spec_.outputs;
      room_.y[static_cast<std::size_t>(c)] = label == (spec_.outputs == 1 ? 1 : o) ? 1 : -1;
    }
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!same_kind(b)) return {Status::mixed_names, 0};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = locate(b, begin, end); status != Status::ok) return {status, i};
      prefetch(b, order, i, n);
      if (order == nullptr) b.fetch_after(r);
      const std::int64_t rows = end - begin + (spec_.fit_intercept ? 1 : 0);
      sum_up(room_, rows);
      const double *means = room_.means.data(), *spreads = room_.spreads.data();
      double* score = scores + i * spec_.outputs;
      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      if (weight > 0) {
        ask(b.labels[r]);
        mixture_.learn(means, spreads, room_.y.data(), weight, log_evidence, score);
        take_step(rows, weight);
      } else {
        mixture_.predict(means, spreads, log_evidence, score);
      }
      ++t;
      if constexpr (!Store::kDirect) {
        if (shape_.forgets())
          store_.sweep(2 + static_cast<std::uint64_t>(end - begin) / 16,
                       [&](const double* row) { return shape_.needed(row, now()); });
      }
    }
    return {Status::ok, n};
  }

  void take_step(std::int64_t rows, double weight) noexcept {
    if (plain_) {
      Taylor all = as_taylor(room_, rows, weight);
      all.next = room_.next.data();
      all.next_rows = room_.next_rows;
      return code_.step(all);
    }
    Moment moment;
    moment.rows = rows;
    moment.columns = k_;
    moment.views = v_;
    moment.x = room_.x.data();
    moment.variances = room_.variances.data();
    moment.means = room_.means.data();
    moment.spreads = room_.spreads.data();
    moment.y = room_.y.data();
    moment.weight = weight;
    moment.moves = room_.moves.data();
    moment.gains = room_.gains.data();
    moment.samples = spec_.samples;
    moment.normals = normals_.data();
    if (spec_.samples > 0) draw_normals(spec_.seed, t, spec_.samples, normals_.data());
    step_(moment);
    absorb(rows, k_, room_.rows.data(), room_.moves.data(), room_.gains.data());
  }

  // Eq. 6 for a row of a block, without touching the model. False: memory is exhausted.
  template <class Index>
  bool look(const BlockView<Index>& b, std::int64_t r, Room& room) const noexcept {
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    if (!room.make(end - begin + 1, k_, v_, shape_.forgets() || named_.any() ? width_ : 0)) return false;
    double** rows = room.rows.data();
    double* x = room.x.data();
    double* copy = room.copies.data();
    const auto current = [&](const double* row, bool is_intercept) {
      if (!shape_.forgets()) return const_cast<double*>(row);  // the rows of a Room are not written to here
      if (row != copy) std::copy(row, row + width_, copy);
      shape_.settle(copy, shape_.precision(is_intercept), now());
      copy += width_;
      return copy - width_;
    };
    if (spec_.fit_intercept) {
      *rows++ = current(intercept.data(), true);
      for (int v = 0; v < v_; ++v) *x++ = 1;
    }
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      const double* row = store_.possible(key) ? store_.find(key) : nullptr;
      if (row == nullptr) row = blank_.data();
      if (spec_.ignore_unseen && shape_.blank(row)) continue;
      if (named_.any() && shape_.blank(row)) {
        std::fill(copy, copy + width_, 0.0);
        give_prior(copy, b.name(k), key);
        row = copy;
        if (!shape_.forgets()) copy += width_;
      }
      *rows++ = current(row, false);
      x = view(static_cast<double>(b.values[k]), x);
    }
    sum_up(room, rows - room.rows.data());
    return true;
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Room& room) {
      mixture_.predict(room.means.data(), room.spreads.data(), log_evidence, scores + r * spec_.outputs);
    });
  }

  template <class Index>
  Outcome moments_of(const BlockView<Index>& b, double* means, double* variances) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Room& room) {
      std::copy(room.means.begin(), room.means.end(), means + r * k_);
      std::copy(room.spreads.begin(), room.spreads.end(), variances + r * k_);
    });
  }

  template <class Index, class Visit>
  Outcome look_at_all(const BlockView<Index>& b, Visit visit) const noexcept {
    try {
      Room room(k_);
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        if (!look(b, r, room)) return {Status::out_of_memory, r};
        visit(r, room);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  static constexpr std::uint32_t kLargestIndex = std::numeric_limits<std::int32_t>::max();
  static constexpr std::uint64_t kFetched = std::uint64_t{1}
                                            << 23;  // larger stores are not in the caches near by
  int v_;                                           // views
  bool raw_;                                        // the one view is of the values as they are
  bool plain_;                                      // the update that is compiled for wide registers
  NamedPriors named_;
  Mixture mixture_;
  Step step_;
  Room room_;
  const TaylorCode& code_ = widest_taylor_code();
  std::vector<double> blank_, normals_;
};

}  // namespace

// In bayesian_full.cpp.
std::unique_ptr<Bayesian> make_full_bayesian(const BayesianSpec& spec, int columns, Step step);

std::unique_ptr<Bayesian> make_bayesian(const std::string& store, const BayesianSpec& spec) {
  const Step step = find_step(spec.update, spec.link, spec.mean, spec.variance);
  if (step == nullptr) return nullptr;
  const int columns = spec.outputs * static_cast<int>(spec.views.size() * spec.prior_variances.size());
  if (store == "dense") return std::make_unique<BayesianOf<DenseStore>>(spec, columns, step);
  if (store == "table") return std::make_unique<BayesianOf<TableStore>>(spec, columns, step);
  if (store == "hashed") return std::make_unique<BayesianOf<HashedStore>>(spec, columns, step);
  if (store == "full" && spec.update == "joint" && spec.half_life == 0 && !spec.own_priors)
    return make_full_bayesian(spec, columns, step);
  return nullptr;
}

}  // namespace riata
