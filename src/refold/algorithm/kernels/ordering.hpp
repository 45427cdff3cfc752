// Columns in the order of their values, and what is read off it.
#pragma once
#include <cstdint>
#include <vector>

#include "table.hpp"

namespace refold {

// The numbers of values without NaN, ascending; equal ones (0 and -0 are) stay in their order.
void stable_order(const double* x, int64_t n, int64_t* order);

// Of the given rows of each column: out[k] is the smallest value with at least k / (count - 1) of those
// that are no NaN at or below it, NaN if there are none; out is (count, columns), row-major.
template <class T>
void quantiles(const Table<T>& X, const int64_t* rows, int64_t n_rows, int64_t count, int n_threads,
               double* out);

// Different values ascending, the weight of each, and the first row that has it.
struct CountedValues {
  std::vector<double> values, weights;
  std::vector<int64_t> rows;
};

// All different values if there are at most `most` of them, else the `depth` smallest and largest.
struct ColumnEdge {
  bool are_few;
  CountedValues all, low, high;
};

// NaN, and values whose weight is not above zero, are left out.
ColumnEdge edge_of(const double* x, const double* weights, const int64_t* rows, int64_t n,
                   int64_t depth, int64_t most);

}  // namespace refold
