#include "riata/sketch.hpp"

#include "riata/online_sketch.hpp"

namespace riata {

template class SketchOf<SquareMatrix>;
template class SketchOf<RowsMatrix>;

}  // namespace riata
