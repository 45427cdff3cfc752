#pragma once
#include <cmath>

#include "loops.hpp"
#include "table.hpp"

namespace refold {

// What scoring needs of a chain (FoldChain.steps): per feature the offset, the unit and the number
// of levels; shift and factor are (columns, n_iter), row-major.
struct Steps {
  int fold, n_iter;
  const double *offset, *unit, *shift, *factor;
  const int64_t* levels;
  Feature feature(int64_t d) const {
    return {unit[d], offset[d], shift + d * n_iter, factor + d * n_iter, int(levels[d])};
  }
};

enum class Distance : int { L1, L2 };
constexpr int N_DISTANCES = 2;
constexpr const char* DISTANCE_NAMES[N_DISTANCES] = {"l1", "l2"};

// Of a row with so many features observed.
inline double to_distance(Distance distance, double sum, double count) {
  return (distance == Distance::L1 ? sum : std::sqrt(sum)) / count;
}

// Each writes a row-major array with one line per row of X.
template <class T>
Problem distances(const Table<T>&, const Steps&, Distance, bool path, int n_threads, double* out);
template <class T>
Problem trace(const Table<T>&, const Steps&, Distance, int n_threads, double* out);
template <class T>
Problem transform(const Table<T>&, const Steps&, int n_threads, double* out);
template <class T>
Problem contributions(const Table<T>&, const Steps&, Distance, bool path, int n_threads,
                      double* distances, double* out);

}  // namespace refold
