#include "riata/bayesian/bayesian.hpp"

#include <algorithm>
#include <string_view>

#include "riata/bayesian/find_rows.hpp"
#include "riata/bayesian/mixture.hpp"
#include "riata/bayesian/steps.hpp"
#include "riata/bayesian/taylor.hpp"
#include "riata/stores/make.hpp"

namespace riata {

namespace {

bool has_kernels(const BayesianSpec& s) {
  return s.update == "marginal" && s.link == "logit" && s.mean == "taylor" && s.variance == "curvature";
}

template <class Store>
class BayesianModel final : public BothMoments<BayesianModel<Store>, BayesianRows<Store>> {
 public:
  BayesianModel(const BayesianSpec& spec, int columns, Step step)
      : BothMoments<BayesianModel<Store>, BayesianRows<Store>>(spec, columns),
        has_kernels_(has_kernels(spec)),
        mixture_(spec.outputs, v_, static_cast<int>(spec.prior_variances.size()), spec.link, spec.share,
                 spec.half_life),
        step_(step) {
    log_evidence.assign(static_cast<std::size_t>(spec.outputs * mixture_.components()), 0.0);
    blank_.assign(static_cast<std::size_t>(width_), 0.0);
    normals_.resize(static_cast<std::size_t>(spec.samples));
  }

 private:
  using Status = Outcome::Status;
  using Bayesian::features, Bayesian::intercept, Bayesian::log_evidence, Bayesian::t, Bayesian::width_;
  using Base = BayesianRows<Store>;
  using Base::k_, Base::now, Base::same_kind, Base::shape_, Base::spec_, Base::store_;
  using Base::kernels_, Base::named_, Base::raw_, Base::workspace_, Base::v_;
  friend BothIndices<BayesianModel<Store>, BayesianRows<Store>>;
  friend BothMoments<BayesianModel<Store>, BayesianRows<Store>>;

  // Eq. 6 over the first n rows of the workspace.
  void sum_up(Workspace& work, std::int64_t n) const noexcept {
    if (has_kernels_ && !shape_.own()) return kernels_.gather(as_taylor(work, n));
    ScoreMoments moments;
    lay_out(moments, work, n);
    gather(moments);
  }

  void lay_out(ScoreMoments& out, Workspace& work, std::int64_t n) const noexcept {
    out.rows = n;
    out.columns = k_;
    out.views = v_;
    out.state = work.rows.data();
    out.intercept_first = spec_.fit_intercept;
    out.own = shape_.own();
    out.x = work.x.data();
    out.precisions = shape_.precision(false);
    out.intercept_precisions = shape_.precision(true);
    out.mean = shape_.common_mean();
    out.variances = work.variances.data();
    out.means = work.means.data();
    out.spreads = work.spreads.data();
  }

  Taylor as_taylor(Workspace& work, std::int64_t n, double weight = 1) const noexcept {
    Taylor out;
    lay_out(out, work, n);
    out.y = work.y.data();
    out.weight = weight;
    for (std::size_t j = 0; k_ == 1 && j < 8; ++j) {  // rows are taken eight at a time
      work.rows[static_cast<std::size_t>(n) + j] = const_cast<double*>(blank_.data());
      work.x[static_cast<std::size_t>(n) + j] = 0;
    }
    return out;
  }

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!same_kind(b)) return {Status::mixed_names, 0};
    return each_example(b, order, n, [&](std::int64_t i, std::int64_t r) -> Outcome {
      const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
      if (const Status status = this->locate(b, begin, end); status != Status::ok) return {status, i};
      this->prefetch(b, order, i, n);
      if (order == nullptr) b.fetch_after(r);
      const std::int64_t rows = end - begin + (spec_.fit_intercept ? 1 : 0);
      sum_up(workspace_, rows);
      workspace_.shift(b.offset(r));
      const double *means = workspace_.means.data(), *spreads = workspace_.spreads.data();
      double* score = scores + i * spec_.outputs;
      const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
      if (weight > 0) {
        mixture_.ask(b.labels[r], workspace_.y.data());
        mixture_.learn(means, spreads, workspace_.y.data(), weight, log_evidence, score);
        take_step(rows, weight);
      } else {
        mixture_.predict(means, spreads, log_evidence, score);
      }
      ++t;
      if constexpr (!Store::kDirect) {
        if (shape_.forgets())
          store_.sweep(2 + static_cast<std::uint64_t>(end - begin) / 16,
                       LiveIf{[&](const double* row) { return shape_.is_live(row, now()); }});
      }
      return {};
    });
  }

  void take_step(std::int64_t rows, double weight) noexcept {
    if (has_kernels_) {
      Taylor all = as_taylor(workspace_, rows, weight);
      all.next = workspace_.next.data();
      all.next_rows = workspace_.next_rows;
      return kernels_.step(all);
    }
    UpdateInput input;
    input.rows = rows;
    input.columns = k_;
    input.views = v_;
    input.x = workspace_.x.data();
    input.variances = workspace_.variances.data();
    input.means = workspace_.means.data();
    input.spreads = workspace_.spreads.data();
    input.y = workspace_.y.data();
    input.weight = weight;
    input.moves = workspace_.moves.data();
    input.gains = workspace_.gains.data();
    input.samples = spec_.samples;
    input.normals = normals_.data();
    if (spec_.samples > 0) draw_normals(spec_.seed, t, spec_.samples, normals_.data());
    step_(input);
    absorb(rows, k_, workspace_.rows.data(), workspace_.moves.data(), workspace_.gains.data());
  }

  // Eq. 6 for a row of a block, without touching the model. False: memory is exhausted.
  template <class Index>
  bool look(const BlockView<Index>& b, std::int64_t r, Workspace& work) const noexcept {
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    if (!work.make(end - begin + 1, k_, v_, shape_.forgets() || named_.any() ? width_ : 0)) return false;
    double** rows = work.rows.data();
    double* x = work.x.data();
    double* copy = work.copies.data();
    const auto current = [&](const double* row, bool is_intercept) {
      // The rows of a Workspace are not written to here.
      if (!shape_.forgets()) return const_cast<double*>(row);
      if (row != copy) std::copy(row, row + width_, copy);
      shape_.catch_up(copy, shape_.precision(is_intercept), now());
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
        this->give_prior(copy, b.name(k), key);
        row = copy;
        if (!shape_.forgets()) copy += width_;
      }
      *rows++ = current(row, false);
      x = this->view(static_cast<double>(b.values[k]), x);
    }
    sum_up(work, rows - work.rows.data());
    work.shift(b.offset(r));
    return true;
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Workspace& work) {
      mixture_.predict(work.means.data(), work.spreads.data(), log_evidence, scores + r * spec_.outputs);
    });
  }

  template <class Index>
  Outcome moments_of(const BlockView<Index>& b, double* means, double* variances) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Workspace& work) {
      std::copy(work.means.begin(), work.means.end(), means + r * k_);
      std::copy(work.spreads.begin(), work.spreads.end(), variances + r * k_);
    });
  }

  template <class Index, class Visit>
  Outcome look_at_all(const BlockView<Index>& b, Visit visit) const noexcept {
    try {
      Workspace work(k_);
      for (std::int64_t r = 0; r < b.rows; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        if (!look(b, r, work)) return {Status::out_of_memory, r};
        visit(r, work);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, 0};
    }
    return {Status::ok, b.rows};
  }

  bool has_kernels_;  // the update that is compiled for wide registers
  Mixture mixture_;
  Step step_;
  std::vector<double> blank_, normals_;
};

}  // namespace

// In full.cpp.
std::unique_ptr<Bayesian> make_full_bayesian(const BayesianSpec& spec, int columns, Step step);

std::unique_ptr<Bayesian> make_bayesian(const std::string& store, const BayesianSpec& spec) {
  const Step step = find_step(spec.update, spec.link, spec.mean, spec.variance);
  if (step == nullptr) return nullptr;
  const int columns = spec.outputs * static_cast<int>(spec.views.size() * spec.prior_variances.size());
  if (store == "full" && spec.update == "joint" && spec.half_life == 0 && !spec.own_priors)
    return make_full_bayesian(spec, columns, step);
  return make_over<Bayesian>(
      store, [&]<AnyStore Store>() { return std::make_unique<BayesianModel<Store>>(spec, columns, step); });
}

}  // namespace riata
