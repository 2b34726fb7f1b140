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
// spread over threads, and the bits do not depend on that. Meanwhile the average follows the piece before, and the next one
// is laid out.
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
  static constexpr std::uint64_t kAnyRows = UINT64_MAX;

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
      Piece& piece = pieces_[0];
      lay_out(piece, in, at, t, kAnyRows);
      for (std::size_t g = 0; g < groups_.size(); ++g) this->learn_group(piece, g);
      if (const Outcome outcome = average(piece, in); outcome.status != Status::ok) return outcome;
      at += piece.size();
      if (piece.outcome.status != Status::ok) return piece.outcome;
    } while (at < in.n && joint.open() == open);
    return {Status::ok, at};
  }

  // In rounds: while the groups learn a piece, the average follows the one before, and the next one is laid out. That one
  // waits where a piece ends an epoch, as members may be dropped, and where rows of state would have to move.
  struct Round {
    Piece *learn, *average, *lay_out;  // the last two: or null
    std::uint64_t room;                // for so many rows of state more
  };

  template <class Index>
  Outcome learn_together(const Stream<Index>& in, std::int64_t at, int threads) noexcept {
    lay_out(pieces_[0], in, at, t, kAnyRows);
    if (pieces_[0].size() == 0) return pieces_[0].outcome;
    Round round{};
    Outcome outcome;
    const auto work = [&](int task) {
      if (round.lay_out != nullptr && task-- == 0)
        follow(*round.lay_out, *round.learn, in, round.room);
      else if (round.average != nullptr && task-- == 0)
        outcome = average(*round.average, in);
      else
        this->learn_group(*round.learn, static_cast<std::size_t>(task));
    };
    const auto begin = [&](Piece* learn, Piece* average) {
      round = {learn, average, nullptr, this->rows_that_fit()};
      if (may_follow(*learn, in) && !learn->ends_epoch())
        for (Piece& each : pieces_)
          if (&each != learn && &each != average) round.lay_out = &each;
      return separate_groups() + (average != nullptr) + (round.lay_out != nullptr);
    };
    const auto next = [&] {
      if (outcome.status != Status::ok) return 0;
      Piece *const learned = round.learn, *laid_out = round.lay_out;
      if (laid_out != nullptr && laid_out->size() > 0) return begin(laid_out, learned);
      outcome = average(*learned, in);
      if (outcome.status != Status::ok) return 0;
      if (laid_out == nullptr || laid_out->outcome.status == Status::ok) {
        if (!may_follow(*learned, in)) {
          outcome = learned->outcome;
          return 0;
        }
        laid_out = learned == pieces_ ? pieces_ + 1 : pieces_;
        follow(*laid_out, *learned, in, kAnyRows);
      }
      if (laid_out->size() > 0) return begin(laid_out, nullptr);
      outcome = laid_out->outcome;
      return 0;
    };
    in_rounds(threads, begin(pieces_, nullptr), work, next);
    return outcome;
  }

  template <class Index>
  static bool may_follow(const Piece& piece, const Stream<Index>& in) noexcept {
    return piece.outcome.status == Status::ok && piece.first + piece.size() < in.n;
  }
  template <class Index>
  void follow(Piece& piece, const Piece& before, const Stream<Index>& in, std::uint64_t room) noexcept {
    lay_out(piece, in, before.first + before.size(), before.seen, room);
  }

  // A piece that begins with example `at` of the stream, when so many examples of all have been seen. It ends where members
  // may be dropped, where joint settings may end, and where it could have more new features than there is room for.
  template <class Index>
  void lay_out(Piece& piece, const Stream<Index>& in, std::int64_t at, std::uint64_t seen,
               std::uint64_t room) noexcept {
    piece.clear();
    piece.first = at;
    piece.seen = seen;
    piece.outcome = {Status::ok, at};
    const bool one = joint.open();
    const std::uint64_t most = room == kAnyRows ? room : this->used_ + room;
    do {
      piece.used = this->used_;
      if (most != kAnyRows && !fits(in, at, most)) return;
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

  // Whether rows of state stay where they are if all features of the example are new.
  template <class Index>
  bool fits(const Stream<Index>& in, std::int64_t at, std::uint64_t most) const noexcept {
    const std::int64_t r = in.row(at);
    if (!in.block.holds(r)) return true;  // which will be said
    return this->used_ + static_cast<std::uint64_t>(in.block.indptr[r + 1] - in.block.indptr[r]) <= most;
  }

  template <class Index>
  Status add(Piece& piece, const Stream<Index>& in, std::int64_t at) noexcept {
    const BlockView<Index>& b = in.block;
    const std::int64_t r = in.row(at);
    if (!b.holds(r)) return Status::bad_block;
    const std::int64_t rows = b.indptr[r + 1] - b.indptr[r] + (spec_.fit_intercept ? 1 : 0);
    const double weight = b.weights == nullptr ? 1 : std::min(b.weights[r], kLargestWeight);
    try {
      piece.make(rows, groups_, this->shape_);
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
        piece.make(rows, groups_, this->shape_);
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

  Piece pieces_[3];
  FasterWay ways_;  // alone, and together
};

}  // namespace

std::unique_ptr<Portfolio> make_portfolio(const std::string& store, const PortfolioSpec& spec) {
  return make_over<Portfolio, PackedHashedStore>(
      store, [&]<AnyStore Store>() { return std::make_unique<PortfolioModel<Store>>(spec); });
}

}  // namespace riata
