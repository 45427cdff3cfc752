#pragma once
#include <vector>

#include "table.hpp"

namespace refold {

// A gain this little above the limit counts as within it: that of a discrete feature can be the limit
// itself, and then rounding must not decide.
constexpr double GAIN_SLACK = 1.0 + 0x1p-20;

// Where the mean is more than 1000 standard deviations from zero, adding up has cost it digits that
// few distinct values would amplify: it is corrected by the mean of what is left. This is the square
// of such a share.
constexpr double FAR_FROM_ZERO = 0x1p-20;

// Rows that weigh more in all might have squares that overflow when they are added up.
constexpr double MOST_WEIGHT = 1e300;

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
