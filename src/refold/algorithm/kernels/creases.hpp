// How rows become features along creases: everything but the matrix products.
#pragma once
#include <cstdint>

namespace refold {

// Piecewise linear maps, one per column: knots and heights of column c are from starts[c] to
// starts[c + 1]; beyond them it goes on with slopes[c].
struct Bends {
  const double *knots, *heights, *slopes;
  const int64_t* starts;
};

// What crease k of so many does at each level, (levels, creases): |y| - shift, times slope.
struct CreaseLevels {
  const double *offsets, *shifts, *slopes;
  int64_t levels, creases;
};

// (x - center) / scale within ±largest; true if a value is missing.
bool standardize(const double* x, int64_t rows, int64_t columns, const double* center,
                 const double* scale, double largest, double* out);

void bend(const double* z, int64_t rows, int64_t columns, const Bends&, double* out);

// Projections, (rows, creases), to features, `width` apart from row to row.
void fold_creases(const double* y, int64_t rows, const CreaseLevels&, double* out, int64_t width);

}  // namespace refold
