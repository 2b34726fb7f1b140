// What the bindings of sketches share.
#pragma once

#include <functional>
#include <new>
#include <string>

#include "bind/arrays.hpp"
#include "bind/turns.hpp"
#include "riata/losses/loss.hpp"
#include "riata/sketch/active_features.hpp"
#include "riata/sketch/gradient_array.hpp"

namespace riata::bind {

inline void check_keys(const std::int64_t* keys, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k)
    if (keys[k] < 0 || !GradientArray::possible(static_cast<std::uint64_t>(keys[k])))
      throw nb::value_error("a feature index is negative or beyond 2^37");
}

// Adds the other one, which stays as it is. Both are held, always in the same order, so that two threads that
// merge the same two cannot wait for each other.
template <class AnySketch>
void merge_held(AnySketch& sketch, const AnySketch& other) {
  if (&sketch == &other) throw nb::value_error("a sketch cannot be merged with itself");
  const nb::gil_scoped_release nogil;
  std::unique_lock alone(sketch.guard, std::defer_lock);
  std::shared_lock together(other.guard, std::defer_lock);
  if (std::less<const AnySketch*>()(&sketch, &other)) {
    alone.lock();
    together.lock();
  } else {
    together.lock();
    alone.lock();
  }
  sketch.merge(other);
}

inline const Link& link_named(const std::string& name) {
  const Link* link = find_link(name);
  if (link == nullptr) throw nb::value_error(("unknown link '" + name + "'").c_str());
  return *link;
}

inline void check(Accumulated outcome) {
  switch (outcome) {
    case Accumulated::ok:
      return;
    case Accumulated::bad_block:
      throw nb::value_error("the block is not well formed: indptr must ascend and stay within indices");
    case Accumulated::bad_index:
      throw nb::value_error("a feature index is negative or beyond 2^37");
    case Accumulated::bad_weight:
      throw nb::value_error("a weight of an example is negative or not a number");
    case Accumulated::not_finite:
      throw nb::value_error("a value of an example is infinite or not a number");
    case Accumulated::too_many_pairs:
      throw nb::value_error("an example has too many features for a sketch of pairs of them");
    case Accumulated::out_of_memory:
      throw std::bad_alloc();
  }
}

}  // namespace riata::bind
