#include "riata/bayesian.hpp"

#include <algorithm>
#include <string_view>

#include "riata/bayesian_rows.hpp"
#include "riata/bayesian_steps.hpp"
#include "riata/mixture.hpp"
#include "riata/stores/dense.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/table.hpp"

namespace riata {

namespace {

// Room for one example: its rows side by side.
struct Room {
  std::vector<double*> rows;
  std::vector<double> x;                        // rows x views
  std::vector<double> variances, moves, gains;  // rows x columns
  std::vector<double> means, spreads, y;        // columns
  std::vector<double> copies;                   // rows as score() wants them, where they are not stored so

  Room(int columns) {
    const auto k = static_cast<std::size_t>(columns);
    means.resize(k);
    spreads.resize(k);
    y.resize(k);
  }
  bool make(std::int64_t count, int columns, int views, int copy_width) noexcept {
    const auto n = static_cast<std::size_t>(count);
    if (n <= rows.size()) return true;
    try {
      const std::size_t cells = 2 * n * static_cast<std::size_t>(columns) + kStride;
      x.resize(2 * n * static_cast<std::size_t>(views) + kStride);
      variances.assign(cells, 1.0);
      moves.resize(cells);
      gains.resize(cells);
      copies.resize(2 * n * static_cast<std::size_t>(copy_width));
      rows.resize(2 * n);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }
};

template <class Store>
class BayesianOf final : public Bayesian {
 public:
  BayesianOf(const BayesianSpec& spec, int columns, Step step)
      : spec_(spec),
        k_(columns),
        v_(static_cast<int>(spec.views.size())),
        raw_(spec.views.size() == 1 && spec.views[0] == View::raw),
        shape_(spec, columns),
        named_(spec),
        mixture_(spec.outputs, v_, static_cast<int>(spec.prior_variances.size()), spec.link, spec.share,
                 spec.half_life),
        step_(step),
        room_(columns),
        store_(shape_.width(), spec.bits) {
    columns_ = columns;
    width_ = shape_.width();
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
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

  Posterior posterior() const override {
    Posterior out;
    for (const auto& [key, row] : found()) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      add(out, row, false);
    }
    return out;
  }
  Posterior intercept_posterior() const override {
    Posterior out;
    add(out, intercept.data(), true);
    return out;
  }
  Rows rows() const override {
    Rows out;
    for (const auto& [key, row] : found()) {
      out.keys.push_back(static_cast<std::int64_t>(key));
      out.values.insert(out.values.end(), row, row + width_);
    }
    return out;
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                const std::int64_t* name_offsets) noexcept override {
    BlockView<std::int64_t> b;
    b.names = names;
    b.name_offsets = name_offsets;
    if (!same_kind(b)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]), b.name(i));
      if (row == nullptr) return false;
      std::copy(values + i * width_, values + (i + 1) * width_, row);
    }
    return true;
  }
  bool named() const noexcept override {
    if constexpr (!Store::kDirect) return store_.named();
    return false;
  }
  Names names(const std::int64_t* keys, std::int64_t n) const override {
    Names out;
    out.offsets.push_back(0);
    for (std::int64_t i = 0; i < n; ++i) {
      std::string_view name;
      if constexpr (!Store::kDirect) name = store_.name(static_cast<std::uint64_t>(keys[i]));
      out.bytes.insert(out.bytes.end(), name.begin(), name.end());
      out.offsets.push_back(static_cast<std::int64_t>(out.bytes.size()));
    }
    return out;
  }
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int o = 0; o < spec_.outputs; ++o)  // one component speaks for all: they move together
        live += row[o * static_cast<int>(spec_.prior_variances.size())] != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes(); }

 private:
  using Status = Outcome::Status;

  // A table holds names of all its rows or of none.
  template <class Index>
  bool same_kind(const BlockView<Index>& b) noexcept {
    if constexpr (!Store::kDirect) {
      if (b.names != nullptr) return store_.set_named();
      return !store_.named();
    }
    return true;
  }

  double now() const noexcept { return static_cast<double>(t); }

  std::vector<std::pair<std::uint64_t, const double*>> found() const {
    std::vector<std::pair<std::uint64_t, const double*>> out;
    store_.for_each([&](std::uint64_t key, const double* row) {
      if (!shape_.blank(row)) out.emplace_back(key, row);
    });
    if constexpr (!Store::kDirect) std::sort(out.begin(), out.end());
    return out;
  }

  void add(Posterior& out, const double* stored, bool is_intercept) const {
    std::vector<double> row(stored, stored + width_);
    const double* common = shape_.precision(is_intercept);
    if (shape_.forgets()) shape_.settle(row.data(), common, now());
    for (int c = 0; c < k_; ++c) {
      const double mean = shape_.prior_mean(row.data(), c),
                   precision = shape_.prior_precision(row.data(), common, c);
      out.prior_means.push_back(mean);
      out.prior_precisions.push_back(precision);
      out.means.push_back(mean + row[c]);
      out.precisions.push_back(precision + row[k_ + c]);
    }
  }

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
    bool moved = false;
    std::uint64_t largest = 0;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      largest = std::max(largest, key);
      double*& row = *rows++;
      if constexpr (Store::kDirect) {
        if (!store_.inside(key)) [[unlikely]] {
          if (!store_.possible(key)) return Status::bad_index;
          if (!store_.reserve(key)) return Status::out_of_memory;
          moved = true;
        }
        row = store_.at(key);
        if (store_.marks()) store_.mark(key);
      } else {
        if (!store_.possible(key)) [[unlikely]]
          return Status::bad_index;
        row = store_.find(key);
        if (row == nullptr) {
          row = store_.insert(key, b.name(k), [&](const double* r) { return shape_.needed(r, now()); });
          if (row == nullptr) return Status::out_of_memory;
          std::fill(row, row + width_, 0.0);
          moved = true;
        }
      }
      x = view(static_cast<double>(b.values[k]), x);
    }
    if (b.names == nullptr && end > begin)
      features = std::max(features, static_cast<std::int64_t>(largest) + 1);
    if (moved) [[unlikely]]
      find_again(b, begin, end);
    if (named_.any() || shape_.forgets()) refresh(b, begin, end);
    return Status::ok;
  }

  // Rows that were put into the store may have moved others.
  template <class Index>
  void find_again(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    double** rows = room_.rows.data() + (spec_.fit_intercept ? 1 : 0);
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if constexpr (Store::kDirect)
        *rows++ = store_.at(key);
      else
        *rows++ = store_.find(key);
    }
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

  double* view(double value, double* x) const noexcept {
    if (raw_) [[likely]] {
      *x = value;
      return x + 1;
    }
    for (const View how : spec_.views) *x++ = seen_as(how, value);
    return x;
  }

  template <class Index>
  void prefetch(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i,
                std::int64_t n) const noexcept {
    if (i >= n || (Store::kDirect && k_ == 1)) return;
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if constexpr (Store::kDirect) {
        if (!store_.inside(key)) continue;
        const double* row = store_.find(key);
        for (int j = 0; j < width_; j += 8) __builtin_prefetch(row + j);
      } else {
        store_.prefetch_row(key);
      }
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
      prefetch(b, order, i + 1, n);
      const std::int64_t rows = end - begin + (spec_.fit_intercept ? 1 : 0);
      sum_up(room_, rows);
      mixture_.predict(room_.means.data(), room_.spreads.data(), log_evidence, scores + i * spec_.outputs);

      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      if (weight > 0) {
        ask(b.labels[r]);
        mixture_.learn(room_.means.data(), room_.spreads.data(), room_.y.data(), weight, log_evidence);
        take_step(rows, weight);
        absorb(rows, k_, room_.rows.data(), room_.moves.data(), room_.gains.data());
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

  BayesianSpec spec_;
  int k_, v_;  // columns, views
  bool raw_;   // the one view is of the values as they are
  RowShape shape_;
  NamedPriors named_;
  Mixture mixture_;
  Step step_;
  Room room_;
  Store store_;
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
