// One column: its values, and what Algorithm 1 learns from them.
#pragma once
#include <algorithm>

#include "buffer.hpp"
#include "learn.hpp"
#include "loops.hpp"
#include "threads.hpp"

namespace refold {

// A column's observed values (not NaN, weight above zero) side by side, with their weights.
struct Column {
  Buffer values, weights, gain;
  bool weighted;
  int64_t size;
  double low, high;  // smallest and largest value
  double total;      // of the weights
  const double* w() { return weighted ? weights.data() : nullptr; }
  void take(int64_t count) {  // values that have been put behind the others
    if (count == 0) return;
    const Range range = loops().range(values.data() + size, count);
    low = size == 0 ? range.low : std::min(low, range.low);
    high = size == 0 ? range.high : std::max(high, range.high);
    size += count;
  }
};

// One level of one feature, written into the chain.
struct Writer {
  Chain out;
  int64_t columns, column;
  void level(int j, double shift, double scale) const {
    out.shifts[j * columns + column] = shift;
    out.scales[j * columns + column] = scale;
  }
  void end(int levels, double gain) const {
    out.levels[column] = levels;
    out.gain[column] = gain;
  }
};

// Learns the chain of a column, whose values it uses up.
void learn_column(Column&, const Recipe&, const Writer&, Problem&, Watch&);

}  // namespace refold
