// A portfolio over a store: finding the rows of an example, and what can be read, saved and put back.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "riata/portfolio/groups.hpp"
#include "riata/portfolio/rows.hpp"

namespace riata {

template <AnyStore Store>
class StoredPortfolio : public OverStore<Portfolio, Store> {
 public:
  explicit StoredPortfolio(const PortfolioSpec& spec)
      : OverStore<Portfolio, Store>(width_of(groups_of(spec, all_of(spec))), spec.bits, spec.outputs,
                                    static_cast<int>(spec.members.size())),
        spec_(spec) {
    alive = all_of(spec);
    single.assign(static_cast<std::size_t>((1 + kViews) * spec.outputs * Single::kWidth), 0.0);
    groups_ = groups_of(spec_, alive);
    width_ = width_of(groups_);
    intercept.assign(static_cast<std::size_t>(width_), 0.0);
    blank_.assign(static_cast<std::size_t>(width_), 0.0);
    example_.shape(groups_);
    if (groups_.back().rule == Rule::joint)
      joint = Joint(spec.outputs, spec.joint, spec.intercept_variance, spec.fit_intercept);
  }

  Rows rows() const override {
    return this->collect(width_, was_seen,
                         [&](const double* row, double* out) { std::copy(row, row + width_, out); });
  }
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    const Group& g = groups_.front();
    store_.for_each([&](std::uint64_t, const double* row) {
      for (int o = 0; o < spec_.outputs; ++o)  // one member speaks for all: they move together
        live += row[g.offset + o * g.members] != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes() + joint.bytes(); }

 protected:
  using Status = Outcome::Status;
  using Portfolio::alive, Portfolio::evidence, Portfolio::features, Portfolio::intercept, Portfolio::joint;
  using Portfolio::single, Portfolio::width_;
  using OverStore<Portfolio, Store>::store_;

  // The rows of an example, those that are missing put there.
  template <class Index>
  Status locate(const BlockView<Index>& b, std::int64_t begin, std::int64_t end) noexcept {
    if (!example_.make(end - begin + 1, groups_)) return Status::out_of_memory;
    double** rows = example_.rows.data();
    if (spec_.fit_intercept) *rows++ = intercept.data();
    return find_rows(store_, width_, b, begin, end, rows, features);
  }

  // How many of the members come before the joint ones.
  int separate_members() const noexcept {
    return groups_.back().rule == Rule::joint ? groups_.back().first : evidence.members();
  }

  // Only these members go on, and rows become narrower. False: memory is exhausted, and nothing has changed.
  bool keep_only(const std::vector<int>& members) noexcept {
    try {
      std::vector<int> left;
      for (const int c : members) left.push_back(alive[static_cast<std::size_t>(c)]);
      std::vector<Group> groups = groups_of(spec_, left);
      const std::vector<int> from = places(members, groups);
      std::vector<double> kept;
      for (const int place : from) kept.push_back(intercept[static_cast<std::size_t>(place)]);
      if (!narrow(from)) return false;
      evidence.keep_only(members);
      alive = std::move(left);
      groups_ = std::move(groups);
      width_ = static_cast<int>(from.size());
      intercept = std::move(kept);
      blank_.assign(from.size(), 0.0);
      example_.shape(groups_);
      if (groups_.back().rule != Rule::joint) joint.close();
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  PortfolioSpec spec_;
  std::vector<Group> groups_;
  std::vector<double> blank_;
  Example example_;

 private:
  static bool was_seen(const double* row) noexcept { return row[0] > 0; }

  static std::vector<int> all_of(const PortfolioSpec& spec) {
    std::vector<int> all(spec.members.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // Only the numbers at these places of every row. False: memory is exhausted, and nothing has changed.
  bool narrow(const std::vector<int>& from) {
    if constexpr (requires { store_.narrow(from); }) {
      store_.narrow(from);
    } else {
      Store store(static_cast<int>(from.size()), spec_.bits);
      for (const auto& [key, row] : this->found(was_seen)) {
        double* to = store.restore(key, this->name_of(key));
        if (to == nullptr) return false;
        for (const int place : from) *to++ = row[place];
      }
      store_ = std::move(store);
    }
    return true;
  }

  // Where the numbers of a narrower row stand in today's, when only these members stay.
  std::vector<int> places(const std::vector<int>& members, const std::vector<Group>& groups) const {
    std::vector<int> out{0, 1};
    std::size_t of = 0;
    for (const Group& g : groups) {
      while (groups_[of].rule != g.rule || groups_[of].values != g.values) ++of;
      const Group& old = groups_[of];
      if (g.width == 0) continue;
      for (const int half : {0, old.columns})
        for (int o = 0; o < spec_.outputs; ++o)
          for (int j = 0; j < g.members; ++j)
            out.push_back(old.offset + half + o * old.members +
                          (members[static_cast<std::size_t>(g.first + j)] - old.first));
    }
    return out;
  }
};

}  // namespace riata
