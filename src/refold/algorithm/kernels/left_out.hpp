// Distances of rows to chains that were learned without them.
#pragma once
#include "learn.hpp"
#include "score.hpp"

namespace refold {

// Row i is in part i mod `parts`; the chain of its distance is learned from the other parts. A
// distance that is no sum over features, the mean of L2 over levels, has no such loop.
template <class T>
Problem left_out(const Table<T>&, const Recipe&, int64_t parts, Distance, bool path, int n_threads,
                 double* out);

}  // namespace refold
