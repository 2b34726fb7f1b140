// A portfolio over a store: finding the rows of an example, and what can be read, saved and put back.
#pragma once

#include <algorithm>

#include "riata/portfolio/members.hpp"
#include "riata/portfolio/rows.hpp"

namespace riata {

template <AnyStore Store>
class StoredPortfolio : public OverStore<PortfolioMembers, Store> {
  using Base = OverStore<PortfolioMembers, Store>;

 public:
  explicit StoredPortfolio(const PortfolioSpec& spec) : Base(kHeadWidth, spec.bits, spec) {}

  Rows rows() const override {
    return this->collect(width_, was_seen, [&](const double* head, double* out) {
      out = std::copy_n(head, kRowHead, out);
      for (std::size_t g = 0; g < groups_.size(); ++g)
        out = std::copy_n(states_[g].row(number_of(head)), groups_[g].width, out);
    });
  }
  bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                const std::int64_t* name_offsets) noexcept override {
    BlockView<std::int64_t> b;
    b.names = names;
    b.name_offsets = name_offsets;
    if (!this->same_kind(b)) return false;
    for (std::int64_t i = 0; i < n; ++i) {
      double* const head = store_.restore(static_cast<std::uint64_t>(keys[i]), b.name(i));
      if (head == nullptr) return false;
      const std::uint32_t number = this->add_rows();
      if (number == 0) return false;
      const double* from = values + i * width_;
      std::copy_n(from, kRowHead, head);
      head[kHeadNumber] = number;
      for (std::size_t g = 0; g < groups_.size(); ++g)
        std::copy_n(from + groups_[g].offset, groups_[g].width, states_[g].row(number));
    }
    return true;
  }
  std::int64_t live_weights() const noexcept override {
    std::int64_t live = 0;
    const Group& g = groups_.front();
    store_.for_each([&](std::uint64_t, const double* head) {
      for (int o = 0; o < spec_.outputs; ++o)  // one member speaks for all: they move together
        live += states_.front().row(number_of(head))[o * g.members] != 0;
    });
    return live;
  }
  std::uint64_t bytes() const noexcept override { return store_.bytes() + this->bytes_of_rows(); }

 protected:
  using Status = Outcome::Status;
  using Base::store_;
  using PortfolioMembers::groups_, PortfolioMembers::states_, PortfolioMembers::spec_;
  using PortfolioMembers::width_, PortfolioMembers::features;

  // The rows of the example that comes next in a piece, those that are missing put there. There must be room for them.
  template <class Index>
  Status locate(Piece& piece, const BlockView<Index>& b, std::int64_t r) noexcept {
    const std::int64_t begin = b.indptr[r], end = b.indptr[r + 1], first = spec_.fit_intercept ? 1 : 0;
    double** const heads = piece.heads.data() + first;
    if (const Status status = find_rows(store_, kHeadWidth, b, begin, end, heads, features);
        status != Status::ok)
      return status;
    std::uint32_t* const numbers = piece.numbers.data() + piece.values() + first;
    for (std::int64_t k = 0; k < end - begin; ++k) {
      if (heads[k][kHeadNumber] == 0) {
        const std::uint32_t number = this->add_rows();
        if (number == 0) return Status::out_of_memory;
        heads[k][kHeadNumber] = number;
      }
      numbers[k] = number_of(heads[k]);
    }
    return Status::ok;
  }
  // The same of one that is only looked at.
  template <class Index>
  void look_up(Piece& piece, const BlockView<Index>& b, std::int64_t r) const noexcept {
    static constexpr double kNeverMet[kHeadWidth] = {};
    const std::int64_t first = spec_.fit_intercept ? 1 : 0;
    look_at_rows(store_, spec_.fit_intercept ? kNeverMet : nullptr, kNeverMet, b, r, piece.heads.data());
    std::uint32_t* const numbers = piece.numbers.data() + piece.values();
    for (std::int64_t k = first; k < b.indptr[r + 1] - b.indptr[r] + first; ++k)
      numbers[k] = number_of(piece.heads[static_cast<std::size_t>(k)]);
  }

 private:
  static bool was_seen(const double* head) noexcept { return head[0] > 0; }
  static std::uint32_t number_of(const double* head) noexcept {
    return static_cast<std::uint32_t>(head[kHeadNumber]);
  }
};

}  // namespace riata
