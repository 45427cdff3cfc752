// Products of matrices in panels, one table of functions per instruction set. Every number is one sum
// in one order, each term added by one fused multiplication: how many rows are multiplied together,
// and by which instructions, changes no bit.
#pragma once
#include <cstdint>

namespace refold {

// Numbers that lie side by side in a panel. A matrix of n rows is kept as panels of its columns,
// [panel][n][PANEL]; what it is multiplied by as [depth][PANEL] for so many results at once.
constexpr int PANEL = 16;

// Rows that are multiplied by a matrix while it is read once: they stay in the second-level cache.
constexpr int ROWS_AT_ONCE = 48;

// What a panel of creases does at each level: (|y| - shift) * slope. Level j lies j * `apart` further.
struct PanelLevels {
  const double *offsets, *shifts, *slopes;
  int64_t levels, apart;
};

struct Products {
  // out[rows][PANEL] = sum over k < depth of a(row, k) * b[k][PANEL]; panels of a are `gap` apart.
  void (*multiply)(const double* a, int64_t gap, int64_t rows, const double* b, int64_t depth,
                   double* out);
  // tile[PANEL][PANEL] += sum over k < depth of a[k][.] * b[k][.], each panel against each.
  void (*outer)(const double* a, const double* b, int64_t depth, double* tile);
  // Projections y[rows][PANEL] to features minus their centers: level j to out + j * gap.
  void (*fold)(const double* y, int64_t rows, const PanelLevels&, const double* centers,
               double* out, int64_t gap);
  // y[rows][PANEL] becomes |(y - offset) * slope|, with the weighted sums of it and of its squares; or
  // y - offset, with the sums of its squares.
  void (*magnitudes)(double* y, const double* weights, int64_t rows, const double* offsets,
                     const double* slopes, double* sums, double* squares);
  void (*deviations)(double* y, const double* weights, int64_t rows, const double* offsets,
                     double* squares);
};

namespace baseline {
extern const Products products;
}
namespace avx2 {
extern const Products products;
}
namespace avx512 {
extern const Products products;
}

// Those of the best set this processor has, or of the one that REFOLD_ISA names.
const Products& products();

}  // namespace refold
