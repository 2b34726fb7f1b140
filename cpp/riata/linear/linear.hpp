// A linear model learned one example at a time, as bindings see it: any rule over any store, m columns wide.
// learn.hpp has the loop.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "riata/base/model_lock.hpp"
#include "riata/base/parameters.hpp"
#include "riata/block/block.hpp"
#include "riata/linear/schedule.hpp"
#include "riata/losses/loss.hpp"

namespace riata {

enum class Normalize { none, l2, sqrt_nnz };

struct LinearSpec {
  const Loss* loss = nullptr;
  double loss_parameter = 0;
  Schedule schedule;
  Normalize normalize = Normalize::none;
  double clip_low = -HUGE_VAL, clip_high = HUGE_VAL;
  int columns = 1;
  bool fit_intercept = true;
  int bits = 0;     // of the hashed store
  Numbers numbers;  // the rule's own parameters

  double clip(double p) const noexcept {  // NaN passes
    if (p < clip_low) return clip_low;
    return p > clip_high ? clip_high : p;
  }
};

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

class Linear {
 public:
  virtual ~Linear() = default;
  virtual Outcome learn(const BlockView<std::int32_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome learn(const BlockView<std::int64_t>&, const std::int64_t* order, std::int64_t n,
                        double* scores) noexcept = 0;
  virtual Outcome score(const BlockView<std::int32_t>&, double* scores) const noexcept = 0;
  virtual Outcome score(const BlockView<std::int64_t>&, double* scores) const noexcept = 0;

  virtual Rows coefficients() const = 0;  // live rows, ascending, brought current: width = columns
  virtual Rows rows() const = 0;          // live rows as they are stored: width = row_width()
  // Names: null where features are numbered. False: the rows do not fit this store, or memory is exhausted.
  virtual bool set_rows(const std::int64_t* keys, const double* values, std::int64_t n, const char* names,
                        const std::int64_t* name_offsets) noexcept = 0;
  virtual bool named() const noexcept = 0;
  virtual Names names(const std::int64_t* keys, std::int64_t n) const = 0;
  virtual int row_width() const noexcept = 0;
  virtual std::vector<double> rule_state() const = 0;
  virtual bool set_rule_state(const std::vector<double>&) = 0;
  virtual std::int64_t live_weights() const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;

  // Learning takes it alone, scoring together: two Python threads must not meet in one model.
  mutable ModelLock guard;

  std::vector<double> intercept;
  std::uint64_t t = 0;        // examples learned
  std::int64_t features = 0;  // 1 + the largest index learned
  double rate_factor() const noexcept { return rate_factor_; }
  virtual void set_rate_factor(double) noexcept = 0;  // it multiplies every learning rate from now on
  virtual void prune(double threshold) noexcept = 0;  // weights up to this size become zero

 protected:
  double rate_factor_ = 1;
};

// One file a family makes its models, so that they compile side by side. Null: no such update or store.
std::unique_ptr<Linear> make_elastic_net(const std::string& update, const std::string& store,
                                         const LinearSpec& spec);
std::unique_ptr<Linear> make_truncated(const std::string& update, const std::string& store,
                                       const LinearSpec& spec);
std::unique_ptr<Linear> make_ftrl(const std::string& update, const std::string& store,
                                  const LinearSpec& spec);

}  // namespace riata
