#pragma once
#include <vector>

#include "tally.hpp"

namespace refold {

// One histogram per column, in one pass over the table.
template <class T>
Problem sketch(const Table<T>& X, const double* weights, int64_t n_bins, int n_threads,
               std::vector<Histogram>& out);

}  // namespace refold
