// Dense matrices: products, sums of products and factors, the same bits for any number of threads.
#pragma once
#include <algorithm>
#include <cstdint>

#include "creases.hpp"

namespace refold {

// out (n, m) = A Bᵀ with A of (n, k) and B of (m, k), row-major.
void multiply(const double* A, int64_t n, const double* B, int64_t m, int64_t k, int n_threads,
              double* out);

// The sums of w φ, and of w φ φᵀ in the upper triangle of a row-major (p, p); the rest is left alone.
struct FeatureSums {
  double *total, *gram;
};
template <class T>
void sum_features(const CreaseMap&, const Table<T>&, const double* weights, int n_threads,
                  const FeatureSums&);
// The same of features that are known, (rows, p).
void sum_products(const double* phi, int64_t rows, int64_t p, const double* weights, int n_threads,
                  const FeatureSums&);

// Sums of products around a center: upper triangle - weight · center centerᵀ + ridge · I; of all
// features or of some, in any order.
struct Scatter {
  int64_t size;                  // features
  const double *upper, *center;  // (width, width), row-major; without a center the sums themselves
  double weight, ridge;
  int64_t width;                  // of all features
  const int64_t* some = nullptr;  // their numbers; without, all as they are
  double at(int64_t i, int64_t j) const {
    if (some) {
      i = some[i];
      j = some[j];
    }
    const auto [row, column] = std::minmax(i, j);
    double sum = upper[row * width + column];
    if (center) sum -= weight * (center[column] * center[row]);
    return row == column ? sum + ridge : sum;
  }
};
// Its lower Cholesky factor, row-major, zeros above. False if it is not positive definite.
bool cholesky(const Scatter&, double* L);
// The order in which a factorization takes the features that always takes the one of most variance
// that those taken do not explain; after so many steps the rest ascends. False if it is not positive
// definite.
bool pivots(const Scatter&, int64_t steps, int64_t* order);
// The last rows of L⁻¹, so many; their columns are the features by number.
bool last_rows(const Scatter&, int64_t count, int n_threads, double* out);
// L⁻¹B with a lower triangle L of (p, p) and B of (p, columns); without B its inverse.
void solve(const double* L, int64_t p, const double* B, int64_t columns, int n_threads,
           double* out);

}  // namespace refold
