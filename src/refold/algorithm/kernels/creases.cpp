#include "creases.hpp"

#include <algorithm>
#include <cmath>

#include "loops.hpp"

namespace refold {
namespace {

// The line between the knots that x lies between, as numpy.interp has it; x is between the ends.
double on_line(const double* knots, const double* heights, int64_t n, double x) {
  const double* above = std::upper_bound(knots, knots + n, x);
  if (above == knots + n) return heights[n - 1];
  const int64_t j = above - knots - 1;
  if (x == knots[j]) return heights[j];  // a slope between neighbours may be infinite
  const double slope = (heights[j + 1] - heights[j]) / (knots[j + 1] - knots[j]);
  return slope * (x - knots[j]) + heights[j];
}

}  // namespace

bool standardize(const double* x, int64_t rows, int64_t columns, const double* center,
                 const double* scale, double largest, double* out) {
  bool missing = false;
  for (int64_t r = 0; r < rows; ++r, x += columns, out += columns)
    for (int64_t c = 0; c < columns; ++c) {
      double z = (x[c] - center[c]) / scale[c];
      if (std::isinf(z))  // x - center may be too large a number where z is not
        z = (x[c] / 2.0 - center[c] / 2.0) / (scale[c] / 2.0);
      missing |= z != z;
      z = z < -largest ? -largest : z;
      out[c] = z > largest ? largest : z;
    }
  return missing;
}

void bend(const double* z, int64_t rows, int64_t columns, const Bends& b, double* out) {
  for (int64_t c = 0; c < columns; ++c) {
    const int64_t n = b.starts[c + 1] - b.starts[c];
    const double *knots = b.knots + b.starts[c], *heights = b.heights + b.starts[c];
    for (int64_t r = 0; r < rows; ++r) {
      const double x = z[r * columns + c], inside = std::clamp(x, knots[0], knots[n - 1]);
      out[r * columns + c] = on_line(knots, heights, n, inside) + b.slopes[c] * (x - inside);
    }
  }
}

void fold_creases(const double* y, int64_t rows, const CreaseLevels& f, double* out,
                  int64_t width) {
  for (int64_t r = 0; r < rows; ++r, y += f.creases, out += width)
    for (int64_t j = 0; j < f.levels; ++j)
      loops().crease(j == 0 ? y : out + (j - 1) * f.creases, j == 0 ? f.offsets : nullptr,
                     f.shifts + j * f.creases, f.slopes + j * f.creases, f.creases,
                     out + j * f.creases);
}

}  // namespace refold
