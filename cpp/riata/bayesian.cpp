#include "riata/bayesian.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include "riata/bayesian_steps.hpp"
#include "riata/mixture.hpp"
#include "riata/stores/dense.hpp"
#include "riata/stores/hashed.hpp"
#include "riata/stores/table.hpp"

namespace riata {

namespace {

// Nothing that is learned passes these: the products of the updates then stay within the range of doubles, whatever
// the feature values, so that no infinity and no NaN ever enters the state.
constexpr double kLargestMean = 1e50, kLargestPrecision = 1e100, kLargestWeight = 1e20;
constexpr double kForgotten = 0x1p-70;  // what is left of evidence that counts as none: adding it changes no bit

// What a row is made of, and how it is brought current.
class RowShape {
 public:
  RowShape(const BayesianSpec& spec, int columns)
      : k_(columns), own_(spec.own_priors), half_life_(spec.half_life), mean_(spec.prior_mean) {
    const auto n = static_cast<std::size_t>(columns);
    for (std::size_t c = 0; c < n; ++c) precision_.push_back(1 / spec.prior_variances[c % spec.prior_variances.size()]);
    intercept_precision_.assign(n, 1 / spec.intercept_variance);
  }

  int width() const noexcept { return 2 * k_ * (own_ ? 2 : 1) + (forgets() ? 1 : 0); }
  bool forgets() const noexcept { return half_life_ > 0; }
  bool own() const noexcept { return own_; }
  double common_mean() const noexcept { return mean_; }
  const double* precision(bool intercept) const noexcept {
    return intercept ? intercept_precision_.data() : precision_.data();
  }
  double* own_mean(double* row) const noexcept { return row + 2 * k_; }
  double* own_precision(double* row) const noexcept { return row + 3 * k_; }
  double prior_mean(const double* row, int c) const noexcept { return own_ ? mean_ + row[2 * k_ + c] : mean_; }
  double prior_precision(const double* row, const double* common, int c) const noexcept {
    return own_ ? common[c] + row[3 * k_ + c] : common[c];
  }

  bool blank(const double* row) const noexcept {
    for (int i = 0; i < 2 * k_ * (own_ ? 2 : 1); ++i)
      if (row[i] != 0) return false;
    return true;
  }
  bool needed(const double* row, double now) const noexcept {
    if (!forgets() || kept(row, now) > 0) return true;
    if (own_)
      for (int i = 2 * k_; i < 4 * k_; ++i)
        if (row[i] != 0) return true;
    return false;
  }

  // Evidence fades by half every half_life examples: precision and precision * mean, both counted from the prior.
  void settle(double* row, const double* common, double now) const noexcept {
    double& mark = row[width() - 1];
    if (mark == now) return;
    const double keep = kept(row, now);
    mark = now;
    for (int c = 0; c < k_; ++c) {
      const double prior = prior_precision(row, common, c), before = prior + row[k_ + c];
      row[k_ + c] *= keep;
      row[c] *= keep * before / (prior + row[k_ + c]);
    }
  }

 private:
  double kept(const double* row, double now) const noexcept {
    const double keep = std::exp2((row[width() - 1] - now) / half_life_);
    return keep < kForgotten ? 0 : keep;
  }

  int k_;
  bool own_;
  double half_life_, mean_;
  std::vector<double> precision_, intercept_precision_;
};

class NamedPriors {
 public:
  explicit NamedPriors(const BayesianSpec& spec) : variances_(spec.named_variances) {}
  bool any() const noexcept { return !variances_.empty(); }

  // The prior variance of a feature: by its whole name, by its namespace (what stands before ^ or =), or null.
  const double* find(std::string_view name) const noexcept {
    try {
      if (const auto whole = variances_.find(std::string(name)); whole != variances_.end()) return &whole->second;
      const auto space = variances_.find(std::string(name.substr(0, name.find_first_of("^="))));
      return space != variances_.end() ? &space->second : nullptr;
    } catch (...) {  // out of memory for a copy of the name: the common prior
      return nullptr;
    }
  }
  const double* find(const Names& names, std::int64_t entry, std::uint64_t key) const noexcept {
    if (names.offsets != nullptr) {
      const auto from = names.offsets[entry], to = names.offsets[entry + 1];
      return find({reinterpret_cast<const char*>(names.bytes) + from, static_cast<std::size_t>(to - from)});
    }
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, key).ptr;
    return find({digits, static_cast<std::size_t>(end - digits)});
  }

 private:
  std::unordered_map<std::string, double> variances_;
};

double seen_as(View view, double x) noexcept {
  switch (view) {
    case View::raw:
      return x;
    case View::binary:
      return 1;
    case View::log1p:
      return std::copysign(std::log1p(std::fabs(x)), x);
  }
  return x;
}

template <class Store>
class BayesianOf final : public Bayesian {
 public:
  BayesianOf(const BayesianSpec& spec, int columns, Step step)
      : spec_(spec),
        k_(columns),
        v_(static_cast<int>(spec.views.size())),
        shape_(spec, columns),
        named_(spec),
        mixture_(spec.outputs, v_, static_cast<int>(spec.prior_variances.size()), spec.link, spec.share,
                 spec.half_life),
        step_(step),
        store_(shape_.width(), spec.bits) {
    columns_ = columns;
    width_ = shape_.width();
    const auto n = static_cast<std::size_t>(columns);
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
    log_evidence.assign(static_cast<std::size_t>(spec.outputs * mixture_.components()), 0.0);
    means_.resize(n);
    spreads_.resize(n);
    y_.resize(n);
    normals_.resize(static_cast<std::size_t>(spec.samples));
  }

  Outcome learn(const BlockView<std::int32_t>& b, const Names& names, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, names, order, n, scores);
  }
  Outcome learn(const BlockView<std::int64_t>& b, const Names& names, const std::int64_t* order, std::int64_t n,
                double* scores) noexcept override {
    return learn_rows(b, names, order, n, scores);
  }
  Outcome score(const BlockView<std::int32_t>& b, const Names& names, double* scores) const noexcept override {
    return score_rows(b, names, scores);
  }
  Outcome score(const BlockView<std::int64_t>& b, const Names& names, double* scores) const noexcept override {
    return score_rows(b, names, scores);
  }
  Outcome moments(const BlockView<std::int32_t>& b, const Names& names, double* means,
                  double* variances) const noexcept override {
    return moments_of(b, names, means, variances);
  }
  Outcome moments(const BlockView<std::int64_t>& b, const Names& names, double* means,
                  double* variances) const noexcept override {
    return moments_of(b, names, means, variances);
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
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n) noexcept override {
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = store_.restore(static_cast<std::uint64_t>(keys[i]));
      if (row == nullptr) return false;
      std::copy(values + i * width_, values + (i + 1) * width_, row);
    }
    return true;
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
      const double mean = shape_.prior_mean(row.data(), c), precision = shape_.prior_precision(row.data(), common, c);
      out.prior_means.push_back(mean);
      out.prior_precisions.push_back(precision);
      out.means.push_back(mean + row[c]);
      out.precisions.push_back(precision + row[k_ + c]);
    }
  }

  // A row's part in eq. 6, for all columns.
  void take_in(const double* row, const double* common, const double* x, double* variances, double* means,
               double* spreads) const noexcept {
    const int width = k_ / v_;
    if (!shape_.own()) {
      const double mean = shape_.common_mean();
      for (int v = 0; v < v_; ++v) {
        const double value = x[v];
        for (int c = v * width; c < (v + 1) * width; ++c) {
          const double variance = 1 / (common[c] + row[k_ + c]);
          variances[c] = variance;
          means[c] += value * (mean + row[c]);
          spreads[c] += value * (value * variance);
        }
      }
      return;
    }
    for (int c = 0; c < k_; ++c) {
      const double value = x[c / width];
      const double variance = 1 / (shape_.prior_precision(row, common, c) + row[k_ + c]);
      variances[c] = variance;
      means[c] += value * (shape_.prior_mean(row, c) + row[c]);
      spreads[c] += value * (value * variance);
    }
  }

  // A feature that was never seen takes the prior that its name asks for.
  void give_prior(double* row, const Names& names, std::int64_t entry, std::uint64_t key) const noexcept {
    if (!shape_.blank(row)) return;
    const double* variance = named_.find(names, entry, key);
    if (variance == nullptr) return;
    const double* common = shape_.precision(false);
    for (int c = 0; c < k_; ++c) shape_.own_precision(row)[c] = 1 / *variance - common[c];
  }

  // The rows of an example, those that are missing put there.
  template <class Index>
  Status locate(const BlockView<Index>& b, const Names& names, std::int64_t begin, std::int64_t end) noexcept {
    const std::int64_t first = spec_.fit_intercept ? 1 : 0;
    const std::int64_t n = first + end - begin;
    if (!make_room(n)) return Status::out_of_memory;
    if (spec_.fit_intercept) rows_[0] = intercept.data();
    bool moved = false;
    for (std::int64_t k = begin; k < end; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      double*& row = rows_[static_cast<std::size_t>(first + k - begin)];
      if constexpr (Store::kDirect) {
        if (!store_.inside(key)) [[unlikely]] {
          if (!store_.possible(key)) return Status::bad_index;
          if (!store_.reserve(key)) return Status::out_of_memory;
          moved = true;
        }
        row = store_.touch(key);
      } else {
        if (!store_.possible(key)) [[unlikely]] return Status::bad_index;
        row = store_.find(key);
        if (row == nullptr) {
          row = store_.insert(key, [&](const double* r) { return shape_.needed(r, now()); });
          if (row == nullptr) return Status::out_of_memory;
          std::fill(row, row + width_, 0.0);
          moved = true;
        }
      }
    }
    if (moved) {
      for (std::int64_t k = begin; k < end; ++k) {
        double*& row = rows_[static_cast<std::size_t>(first + k - begin)];
        if constexpr (Store::kDirect)
          row = store_.touched(static_cast<std::uint64_t>(b.indices[k]));
        else
          row = store_.find(static_cast<std::uint64_t>(b.indices[k]));
      }
    }
    if (named_.any())
      for (std::int64_t k = begin; k < end; ++k)
        give_prior(rows_[static_cast<std::size_t>(first + k - begin)], names, k,
                   static_cast<std::uint64_t>(b.indices[k]));
    return Status::ok;
  }

  // Eq. 6 over the located rows.
  template <class Index>
  void gather(const BlockView<Index>& b, std::int64_t begin, std::int64_t n) noexcept {
    std::fill(means_.begin(), means_.end(), 0.0);
    std::fill(spreads_.begin(), spreads_.end(), 0.0);
    const std::int64_t first = spec_.fit_intercept ? 1 : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const bool is_intercept = i < first;
      double* x = x_.data() + i * v_;
      const double value = is_intercept ? 1 : static_cast<double>(b.values[begin + i - first]);
      for (int v = 0; v < v_; ++v) x[v] = is_intercept ? 1 : seen_as(spec_.views[static_cast<std::size_t>(v)], value);
      double* row = rows_[static_cast<std::size_t>(i)];
      const double* common = shape_.precision(is_intercept);
      if (shape_.forgets()) shape_.settle(row, common, now());
      take_in(row, common, x, variances_.data() + i * k_, means_.data(), spreads_.data());
    }
  }

  void absorb(std::int64_t n) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      double* row = rows_[static_cast<std::size_t>(i)];
      const double* moves = moves_.data() + i * k_;
      const double* gains = gains_.data() + i * k_;
      for (int c = 0; c < k_; ++c) row[c] = clamped(row[c] + moves[c], kLargestMean);
      for (int c = 0; c < k_; ++c) {
        const double sum = row[k_ + c] + gains[c];
        row[k_ + c] = sum < kLargestPrecision ? sum : kLargestPrecision;
      }
    }
  }

  bool make_room(std::int64_t count) noexcept {
    const auto n = static_cast<std::size_t>(count);
    if (n <= rows_.size()) return true;
    try {
      const std::size_t cells = 2 * n * static_cast<std::size_t>(k_);
      x_.resize(2 * n * static_cast<std::size_t>(v_));
      variances_.resize(cells);
      moves_.resize(cells);
      gains_.resize(cells);
      rows_.resize(2 * n);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  template <class Index>
  void prefetch(const BlockView<Index>& b, const std::int64_t* order, std::int64_t i, std::int64_t n) const noexcept {
    if (i >= n) return;
    const std::int64_t r = order == nullptr ? i : order[i];
    if (!b.holds(r)) return;
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      if constexpr (Store::kDirect) {
        if (!store_.inside(key)) continue;
        const double* row = store_.find(key);
        for (int j = 0; j < width_; j += 8) __builtin_prefetch(row + j);
      } else {
        store_.prefetch(Store::tag_of(key));
      }
    }
  }

  // Column c asks "is it class o?", a single output "is it class 1?".
  void ask(double label) noexcept {
    const auto priors = static_cast<int>(spec_.prior_variances.size());
    for (int c = 0; c < k_; ++c) {
      const int o = c / priors % spec_.outputs;
      y_[static_cast<std::size_t>(c)] = label == (spec_.outputs == 1 ? 1 : o) ? 1 : -1;
    }
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const Names& names, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t r = order == nullptr ? i : order[i];
      if (!b.holds(r)) return {Status::bad_block, i};
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = locate(b, names, begin, end); status != Status::ok) return {status, i};
      prefetch(b, order, i + 1, n);
      Moment moment;
      moment.rows = end - begin + (spec_.fit_intercept ? 1 : 0);
      gather(b, begin, moment.rows);
      mixture_.predict(means_.data(), spreads_.data(), log_evidence, scores + i * spec_.outputs);

      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      if (weight > 0) {
        ask(b.labels[r]);
        mixture_.learn(means_.data(), spreads_.data(), y_.data(), weight, log_evidence);
        take_step(moment, weight);
        absorb(moment.rows);
      }
      ++t;
      for (std::int64_t k = begin; k < end; ++k)
        features = std::max(features, static_cast<std::int64_t>(b.indices[k]) + 1);
      if constexpr (!Store::kDirect) {
        if (shape_.forgets())
          store_.sweep(2 + static_cast<std::uint64_t>(end - begin) / 16,
                       [&](const double* row) { return shape_.needed(row, now()); });
      }
    }
    return {Status::ok, n};
  }

  void take_step(Moment& moment, double weight) noexcept {
    moment.columns = k_;
    moment.views = v_;
    moment.x = x_.data();
    moment.variances = variances_.data();
    moment.means = means_.data();
    moment.spreads = spreads_.data();
    moment.y = y_.data();
    moment.weight = weight;
    moment.moves = moves_.data();
    moment.gains = gains_.data();
    moment.samples = spec_.samples;
    moment.normals = normals_.data();
    if (spec_.samples > 0) draw_normals(spec_.seed, t, spec_.samples, normals_.data());
    step_(moment);
  }

  // Eq. 6 for a row of a block, without touching anything.
  template <class Index>
  void sum_up(const BlockView<Index>& b, const Names& names, std::int64_t r, std::vector<double>& scratch,
              double* means, double* spreads) const noexcept {
    std::fill(means, means + k_, 0.0);
    std::fill(spreads, spreads + k_, 0.0);
    double* variances = scratch.data();
    double* copy = variances + k_;
    double* x = copy + width_;
    const auto take = [&](const double* row, bool is_intercept) {
      const double* common = shape_.precision(is_intercept);
      if (shape_.forgets()) {
        if (row != copy) std::copy(row, row + width_, copy);
        shape_.settle(copy, common, now());
        row = copy;
      }
      take_in(row, common, x, variances, means, spreads);
    };
    if (spec_.fit_intercept) {
      std::fill(x, x + v_, 1.0);
      take(intercept.data(), true);
    }
    for (std::int64_t k = b.indptr[r]; k < b.indptr[r + 1]; ++k) {
      const auto key = static_cast<std::uint64_t>(b.indices[k]);
      const double* row = store_.possible(key) ? store_.find(key) : nullptr;
      if (row == nullptr || (Store::kDirect && (named_.any() || spec_.ignore_unseen) && shape_.blank(row))) {
        if (spec_.ignore_unseen) continue;
        std::fill(copy, copy + width_, 0.0);
        if (named_.any()) give_prior(copy, names, k, key);
        row = copy;
      }
      for (int v = 0; v < v_; ++v)
        x[v] = seen_as(spec_.views[static_cast<std::size_t>(v)], static_cast<double>(b.values[k]));
      take(row, false);
    }
  }
  std::vector<double> scratch() const { return std::vector<double>(static_cast<std::size_t>(k_ + width_ + v_)); }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, const Names& names, double* scores) const noexcept {
    try {
      const auto n = static_cast<std::size_t>(k_);
      std::vector<double> spare = scratch(), means(n), spreads(n);
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        sum_up(b, names, r, spare, means.data(), spreads.data());
        mixture_.predict(means.data(), spreads.data(), log_evidence, scores + r * spec_.outputs);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  template <class Index>
  Outcome moments_of(const BlockView<Index>& b, const Names& names, double* means, double* variances) const noexcept {
    try {
      std::vector<double> spare = scratch();
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        sum_up(b, names, r, spare, means + r * k_, variances + r * k_);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  BayesianSpec spec_;
  int k_, v_;  // columns, views
  RowShape shape_;
  NamedPriors named_;
  Mixture mixture_;
  Step step_;
  Store store_;
  std::vector<double> means_, spreads_, y_;              // of the example at hand: columns
  std::vector<double> x_, variances_, moves_, gains_;    // likewise: rows x views or columns
  std::vector<double*> rows_;
  std::vector<double> normals_;
};

}  // namespace

std::unique_ptr<Bayesian> make_bayesian(const std::string& store, const BayesianSpec& spec) {
  const Step step = find_step(spec.update, spec.link, spec.mean, spec.variance);
  if (step == nullptr) return nullptr;
  const int columns = spec.outputs * static_cast<int>(spec.views.size() * spec.prior_variances.size());
  if (store == "dense") return std::make_unique<BayesianOf<DenseStore>>(spec, columns, step);
  if (store == "table") return std::make_unique<BayesianOf<TableStore>>(spec, columns, step);
  if (store == "hashed") return std::make_unique<BayesianOf<HashedStore>>(spec, columns, step);
  return nullptr;
}

}  // namespace riata
