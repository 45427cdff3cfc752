#pragma once
#include "table.hpp"

namespace refold {

// One feature's histogram: bin b counts the values x with floor(x / 2^exponent) = first + b.
struct HistogramInfo {
  int64_t exponent, first;    // the number of the first cell's bin
  int64_t rows;               // that have a value
  double low, high, missing;  // smallest and largest value; weight of the rows without one
};

// cells is (columns, n_bins, 2), zero: per bin the weight of its rows, and the sum of their weighted
// positions within the bin (0 at its left edge, 1 at its right).
template <class T>
Problem sketch(const Table<T>& X, const double* weights, int64_t n_bins, int n_threads,
               HistogramInfo* info, double* cells);

// The smallest exponent whose bins hold low … high in at most n_bins, not finer than doubles are.
int64_t least_exponent(double low, double high, int64_t n_bins);

}  // namespace refold
