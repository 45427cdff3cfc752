#pragma once
#include <vector>

#include "table.hpp"

namespace refold {

struct Recipe {
  int fold;
  int n_iter;
  double max_gain;
};

// Where the chain is written: shifts and scales are (n_iter, columns), row-major, and hold 0 and 1
// where a feature no longer folds.
struct Chain {
  double *shifts, *scales, *gain;
  int64_t* levels;
};

template <class T>
Problem learn(const Table<T>& X, const double* weights, const Recipe&, int n_threads, Chain out);

// A column with weights of its own, none of them zero.
struct WeightedColumn {
  const double *values, *weights;
  int64_t size;
};

Problem learn_each(const std::vector<WeightedColumn>&, const Recipe&, int n_threads, Chain out);

}  // namespace refold
