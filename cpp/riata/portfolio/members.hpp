// The members of a portfolio, and what they do with examples whose values are laid out: groups learn a piece of the stream
// each by itself, and then the average follows, example by example.
#pragma once

#include <cstdint>
#include <vector>

#include "riata/bayesian/taylor.hpp"
#include "riata/portfolio/piece.hpp"
#include "riata/portfolio/portfolio.hpp"
#include "riata/portfolio/state_rows.hpp"

namespace riata {

class PortfolioMembers : public Portfolio {
 public:
  explicit PortfolioMembers(const PortfolioSpec& spec);

 protected:
  // What the average makes of one example: outputs x members each, and behind some of them room.
  struct Averaged {
    std::size_t members_of_all = 0;    // outputs x members
    Doubles scores, linear;            // of the members, and what is linear of them
    Doubles constants_of_unit;         // of that, the intercept, where rows of length one are seen
    Doubles own, factors, constants;   // scores before correction, and the correction
    Doubles averages;                  // (1 + kViews) x outputs: of all members, and of those of each view
    std::vector<double*> corrections;  // whose states are here

    void shape(int outputs, int members);
    // What is linear of a member, corrected.
    double corrected(std::size_t at) const noexcept { return factors[at] * linear[at] + constants[at]; }
  };
  // Room to learn or to score in, besides that of pieces.
  struct Workspace {
    Averaged averaged;
    JointExample joint;
    Doubles joint_scores;  // outputs x kJointLanes

    // Throws std::bad_alloc.
    void shape(const std::vector<Group>& groups, int outputs);
  };

  // What a group says to an example of the piece.
  void gather(Workspace& w, Piece& piece, std::size_t g, std::int64_t i, double* intercept) const noexcept;
  // A group learns all examples of a piece, and has said before each what it thought. Other groups may do so meanwhile.
  void learn_group(Piece& piece, std::size_t g) noexcept;

  // The scores of all members, put right, and their average.
  void assemble(Averaged& e, const Piece& piece, std::int64_t i) const noexcept;
  void predict(const Averaged& e, double* scores) const noexcept;
  // The label of an example becomes known to the average, which has predicted it.
  void learn_average(const PieceExample& x, const double* scores) noexcept;

  // Groups have the intercept to themselves while they learn.
  void take_intercept() noexcept;
  void give_intercept() noexcept;
  // How many of the members come before the joint ones.
  int separate_members() const noexcept {
    return groups_.back().rule == Rule::joint ? groups_.back().first : evidence.members();
  }
  // Only these members go on. Throws std::bad_alloc; then nothing has changed.
  void keep_only(const std::vector<int>& members);

  // A feature is met for the first time: the number of its rows. 0: memory is exhausted.
  std::uint32_t add_rows() noexcept;
  std::uint64_t bytes_of_rows() const noexcept;
  // How many more there may be before rows move.
  std::uint64_t rows_that_fit() const noexcept;

  PortfolioSpec spec_;
  std::vector<Group> groups_;
  std::vector<StateRows> states_;   // by groups
  std::uint64_t used_ = 0;          // rows of state, the empty one not counted
  std::uint64_t shape_ = 1;         // another one whenever the groups are others
  std::vector<Doubles> constants_;  // by groups: the intercept's row, while they learn
  Workspace work_;
  const PortfolioKernels& kernels_ = best_portfolio_kernels();
  const CorrectionKernels& corrections_ = best_correction_kernels();

 private:
  static constexpr std::uint64_t kFar = std::uint64_t{1}
                                        << 21;  // bytes of rows that are worth fetching ahead

  void point(GroupWork& work, const Piece& piece, const PieceExample& x, std::size_t g,
             double* intercept) const noexcept;
  Taylor as_taylor(GroupWork& work, const Piece& piece, const PieceExample& x, std::size_t g) const noexcept;
  AdaGradRows as_adagrad(GroupWork& work, const Piece& piece, const PieceExample& x,
                         std::size_t g) const noexcept;
  void share(GroupWork& work, const Group& group, double offset, double* scores) const noexcept;
  void gather_joint(Workspace& w, Piece& piece, std::size_t g) const noexcept;
  void step_joint(const PieceExample& x) noexcept;
  void correct(Averaged& e, double offset) const noexcept;
  void learn_corrections(int o, double y, const PieceExample& x) noexcept;
  void learn_singles(int first, int last, const PieceExample& x) noexcept;
  bool average_linear(int v, double* averages) const noexcept;
  void learn_lengths(const double* of_row) noexcept;
  double target(double label, int o) const noexcept {
    return label == (spec_.outputs == 1 ? 1 : o) ? 1.0 : -1.0;
  }

  const TaylorKernels& bayesian_ = best_taylor_kernels();
};

}  // namespace riata
