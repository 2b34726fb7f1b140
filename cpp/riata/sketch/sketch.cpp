#include "riata/sketch/sketch.hpp"

#include "riata/sketch/pass.hpp"

namespace riata {

std::unique_ptr<Sketch> make_sketch(const Link& link, bool fit_intercept, bool full) {
  if (full) return std::make_unique<SketchOf<RowsMatrix>>(link, fit_intercept);
  return std::make_unique<SketchOf<SquareMatrix>>(link, fit_intercept);
}

}  // namespace riata
