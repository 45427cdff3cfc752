#pragma once
#include "table.hpp"

namespace refold {

// Per column the smallest and the largest value, infinite where there is none, and the weight of the
// rows without one. Rows that weigh nothing are left out.
struct Extremes {
  double *low, *high, *missing;
};

template <class T>
void extremes(const Table<T>& X, const double* weights, int n_threads, Extremes out);

}  // namespace refold
