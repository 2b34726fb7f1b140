#include "riata/portfolio/portfolio.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "riata/base/faster_way.hpp"
#include "riata/base/rounds.hpp"
#include "riata/portfolio/stored.hpp"
#include "riata/stores/make.hpp"
#include "riata/stores/packed_hashed.hpp"

namespace riata {

namespace {

// The examples that are to be learned: those of a Block in some order.
template <class Index>
struct Stream {
  const BlockView<Index>& block;
  const std::int64_t* order;
  std::int64_t n;
  double* scores;

  std::int64_t row(std::int64_t i) const noexcept { return order == nullptr ? i : order[i]; }
  // About so many values are left from example i on.
  double values_from(std::int64_t i) const noexcept {
    const auto rows = static_cast<double>(std::max<std::int64_t>(block.rows, 1));
    return static_cast<double>(block.nnz) / rows * static_cast<double>(n - i);
  }
};

// Examples are learned in pieces. First the values of a piece are laid out, with the root mean squares that features have
// at each example; then each group of members learns the piece, and says to each example what it thinks before it learns
// it; then the average follows. Nothing that a group learns depends on another one or on the average, so groups can be
// spread over threads, and the bits do not depend on that. While the average of a piece is worked out by the first
// thread, the last one lays out the next.
template <class Store>
class PortfolioModel final : public BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>> {
 public:
  using BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>>::BothIndices;

  Outcome member_scores(const BlockView<std::int32_t>& b, double* scores) const noexcept override {
    return members_of_rows(b, scores);
  }
  Outcome member_scores(const BlockView<std::int64_t>& b, double* scores) const noexcept override {
    return members_of_rows(b, scores);
  }

 private:
  using Base = StoredPortfolio<Store>;
  using Status = Outcome::Status;
  using Workspace = typename Base::Workspace;
  using Averaged = typename Base::Averaged;
  friend BothIndices<PortfolioModel<Store>, StoredPortfolio<Store>>;
  using Base::evidence, Base::groups_, Base::intercept, Base::joint, Base::kernels_;
  using Base::spec_, Base::store_, Base::t, Base::work_;

  static constexpr std::int64_t kMostExamples = 256;  // of a piece

  template <class Index>
  Outcome learn_rows(const BlockView<Index>& b, const std::int64_t* order, std::int64_t n,
                     double* scores) noexcept {
    if (!this->same_kind(b)) return {Status::mixed_names, 0};
    const Stream<Index> in{b, order, n, scores};
    this->take_intercept();
    Outcome outcome{Status::ok, 0};
    while (outcome.status == Status::ok && outcome.done < n) {
      const std::int64_t from = outcome.done;
      const int most = joint.open() ? 1 : threads_for(in.values_from(from), separate_groups());
      if (most == 1) {
        outcome = learn_alone(in, from);
        continue;
      }
      const int threads = !spec_.measure || ways_.choose() == 1 ? most : 1;
      ways_.measure([&] {
        outcome = threads > 1 ? learn_together(in, from, threads) : learn_alone(in, from);
        return in.values_from(from) - in.values_from(outcome.done);
      });
    }
    this->give_intercept();
    return outcome;
  }

  int separate_groups() const noexcept {
    return static_cast<int>(groups_.size()) - (groups_.back().rule == Rule::joint ? 1 : 0);
  }
  // How many threads work on so many values, if there are tasks for so many.
  int threads_for(double values, int tasks) const noexcept {
    return values < static_cast<double>(spec_.worth) ? 1 : std::max(1, std::min(spec_.threads, tasks));
  }

  // All examples from this one on; or until joint settings have ended, which learn examples one by one.
  template <class Index>
  Outcome learn_alone(const Stream<Index>& in, std::int64_t at) noexcept {
    const bool open = joint.open();
    do {
      lay_out(piece_, in, at, t);
      for (std::size_t g = 0; g < groups_.size(); ++g) this->learn_group(piece_, g);
      if (const Outcome outcome = average(piece_, in); outcome.status != Status::ok) return outcome;
      at += piece_.size();
      if (piece_.outcome.status != Status::ok) return piece_.outcome;
    } while (at < in.n && joint.open() == open);
    return {Status::ok, at};
  }

  // In turns: the groups learn a piece; then the average follows, and meanwhile the next piece is laid out, or afterwards
  // where members may have been dropped.
  template <class Index>
  Outcome learn_together(const Stream<Index>& in, std::int64_t at, int threads) noexcept {
    enum class Turn { groups, average, next_piece } turn = Turn::groups;
    Piece *now = &piece_, *next = &next_piece_;
    Outcome outcome;
    const auto lay_out_next = [&] {
      const std::int64_t done = now->first + now->size();
      next->clear();
      if (now->outcome.status == Status::ok && done < in.n) lay_out(*next, in, done, now->seen);
    };
    const auto work = [&](int task) {
      if (turn == Turn::groups)
        this->learn_group(*now, static_cast<std::size_t>(task));
      else if (turn == Turn::average && task == 0)
        outcome = average(*now, in);
      else
        lay_out_next();
    };
    const auto then = [&] {
      if (turn == Turn::groups) {
        turn = Turn::average;
        return now->ends_epoch() ? 1 : 2;
      }
      if (outcome.status != Status::ok) return 0;
      if (turn == Turn::average && now->ends_epoch()) {
        turn = Turn::next_piece;
        return 1;
      }
      if (now->outcome.status != Status::ok) outcome = now->outcome;
      if (next->size() == 0 && next->outcome.status != Status::ok) outcome = next->outcome;
      std::swap(now, next);
      turn = Turn::groups;
      return now->size() == 0 ? 0 : separate_groups();
    };
    lay_out(piece_, in, at, t);
    if (piece_.size() == 0) return piece_.outcome;
    in_rounds(threads, separate_groups(), work, then);
    return outcome;
  }

  // A piece that begins with example `at` of the stream, when so many examples of all have been seen. It ends where members
  // may be dropped, and where joint settings may end.
  template <class Index>
  void lay_out(Piece& piece, const Stream<Index>& in, std::int64_t at, std::uint64_t seen) noexcept {
    piece.clear();
    piece.first = at;
    piece.seen = seen;
    const bool one = joint.open();
    do {
      if (const Status status = add(piece, in, at); status != Status::ok) {
        piece.outcome = {status, at};
        return;
      }
      ++at;
      ++piece.seen;
    } while (at < in.n && !one && piece.size() < kMostExamples && piece.values() < spec_.piece &&
             !piece.ends_epoch());
    piece.outcome = {Status::ok, at};
  }

  template <class Index>
  Status add(Piece& piece, const Stream<Index>& in, std::int64_t at) noexcept {
    const BlockView<Index>& b = in.block;
    const std::int64_t r = in.row(at);
    if (!b.holds(r)) return Status::bad_block;
    const std::int64_t rows = b.indptr[r + 1] - b.indptr[r] + (spec_.fit_intercept ? 1 : 0);
    const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
    try {
      piece.make(rows, groups_);
      work_.make(rows, groups_);
    } catch (const std::bad_alloc&) {
      return Status::out_of_memory;
    }
    if (const Status status = this->locate(piece, b, r); status != Status::ok) return status;
    prefetch_next(store_, kHeadWidth, b, in.order, at, in.n);
    PieceExample& x = piece.add(rows);
    x.label = b.labels[r];
    x.weight = weight;
    x.offset = b.offset(r);
    lay_out_values(piece, x, b, r, weight > 0);
    if (joint.open() && !take_joint(piece, b, r, weight > 0)) {
      piece.examples.pop_back();
      return Status::out_of_memory;
    }
    return Status::ok;
  }

  template <class Index>
  void lay_out_values(Piece& piece, PieceExample& x, const BlockView<Index>& b, std::int64_t r,
                      bool learn) const noexcept {
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1];
    double* to = piece.raw.data() + x.begin + (spec_.fit_intercept ? 1 : 0);
    for (std::int64_t k = begin; k < end; ++k) *to++ = static_cast<double>(b.values[k]);
    Views views = piece.views_of(x, spec_.fit_intercept, learn);
    kernels_.views(views);
    std::copy_n(views.lengths, 2, x.lengths);
  }

  // The average follows a piece that all groups have learned.
  template <class Index>
  Outcome average(const Piece& piece, const Stream<Index>& in) noexcept {
    for (std::int64_t i = 0; i < piece.size(); ++i) {
      const PieceExample& x = piece.examples[static_cast<std::size_t>(i)];
      double* const scores = in.scores + (piece.first + i) * spec_.outputs;
      this->assemble(work_.averaged, piece, i);
      this->predict(work_.averaged, scores);
      ++t;
      if (x.weight > 0) this->learn_average(x, scores);
    }
    const std::int64_t done = piece.first + piece.size();
    if (piece.size() == 0) return {Status::ok, done};
    if (joint.open() && !joint.worth_it(t) && !end_joint()) return {Status::out_of_memory, done};
    if (Evidence::ends(t) && !end_epoch()) return {Status::out_of_memory, done};
    return {Status::ok, done};
  }

  // The example's values as joint members see them. False: memory is exhausted.
  template <class Index>
  bool take_joint(const Piece& piece, const BlockView<Index>& b, std::int64_t r, bool learn) noexcept {
    double* const* heads = piece.heads.data() + (spec_.fit_intercept ? 1 : 0);
    try {
      if (learn)
        joint.take(work_.joint, b, r, [heads](std::int64_t k) { return heads[k]; });
      else
        joint.look(work_.joint, b, r);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  // The other members go on.
  bool end_joint() noexcept {
    try {
      std::vector<int> left(static_cast<std::size_t>(this->separate_members()));
      std::iota(left.begin(), left.end(), 0);
      this->keep_only(left);
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  bool end_epoch() noexcept {
    try {
      const std::vector<int> left = evidence.survivors(t, this->separate_members());
      if (spec_.drop && !left.empty() && static_cast<int>(left.size()) < evidence.members())
        this->keep_only(left);
    } catch (const std::bad_alloc&) {
      return false;
    }
    evidence.next_epoch();
    return true;
  }

  template <class Index>
  Outcome score_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(
        b, [&](std::int64_t r, const Averaged& e) { this->predict(e, scores + r * spec_.outputs); });
  }

  template <class Index>
  Outcome members_of_rows(const BlockView<Index>& b, double* scores) const noexcept {
    return look_at_all(b, [&](std::int64_t r, const Averaged& e) {
      const auto all = static_cast<std::int64_t>(e.members_of_all);
      std::copy_n(e.scores.data(), all, scores + r * all);
    });
  }

  // Threads look at rows side by side: visit(r, what the members say of row r).
  template <class Index, class Visit>
  Outcome look_at_all(const BlockView<Index>& b, Visit visit) const noexcept {
    const int parts = threads_for(static_cast<double>(b.nnz), kMostThreads);
    Outcome outcomes[kMostThreads];
    in_threads(parts, parts, [&](int part) {
      outcomes[part] = look_at_some(b, b.rows * part / parts, b.rows * (part + 1) / parts, visit);
    });
    for (const Outcome& each : outcomes)
      if (each.status != Status::ok) return each;
    return {Status::ok, b.rows};
  }

  template <class Index, class Visit>
  Outcome look_at_some(const BlockView<Index>& b, std::int64_t from, std::int64_t to,
                       Visit visit) const noexcept {
    std::int64_t r = from;
    try {
      Workspace w;
      w.shape(groups_, spec_.outputs);
      Piece piece;
      for (; r < to; ++r) {
        if (!b.holds(r)) return {Status::bad_block, r};
        const std::int64_t rows = b.indptr[r + 1] - b.indptr[r] + (spec_.fit_intercept ? 1 : 0);
        piece.clear();
        piece.make(rows, groups_);
        w.make(rows, groups_);
        this->look_up(piece, b, r);
        PieceExample& x = piece.add(rows);
        x.offset = b.offset(r);
        lay_out_values(piece, x, b, r, false);
        if (joint.open()) joint.look(w.joint, b, r);
        for (std::size_t g = 0; g < groups_.size(); ++g)  // read only
          this->gather(w, piece, g, 0, const_cast<double*>(intercept.data()) + groups_[g].offset);
        this->assemble(w.averaged, piece, 0);
        visit(r, w.averaged);
      }
    } catch (const std::bad_alloc&) {
      return {Status::out_of_memory, r};
    }
    return {Status::ok, to};
  }

  Piece piece_, next_piece_;
  FasterWay ways_;  // alone, and together
};

}  // namespace

std::unique_ptr<Portfolio> make_portfolio(const std::string& store, const PortfolioSpec& spec) {
  return make_over<Portfolio, PackedHashedStore>(
      store, [&]<AnyStore Store>() { return std::make_unique<PortfolioModel<Store>>(spec); });
}

}  // namespace riata
