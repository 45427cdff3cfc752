// The Python face of the creases.
#include "creases_module.hpp"

#include "arguments.hpp"
#include "creases.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

bool standardized(Matrix rows, Vector center, Vector scale, double largest, MatrixOut out) {
  const size_t n = rows.shape(0), d = rows.shape(1);
  expect(center.shape(0) == d && scale.shape(0) == d && out.shape(0) == n && out.shape(1) == d,
         "rows, center and scale do not fit together");
  const double *x = data(rows), *c = data(center), *s = data(scale);
  double* to = data(out);
  nb::gil_scoped_release release;
  return standardize(x, int64_t(n), int64_t(d), c, s, largest, to);
}

void bent(Matrix z, Vector knots, Vector heights, Integers starts, Vector slopes, MatrixOut out) {
  const size_t n = z.shape(0), d = z.shape(1);
  expect(starts.shape(0) == d + 1 && slopes.shape(0) == d && heights.shape(0) == knots.shape(0) &&
             out.shape(0) == n && out.shape(1) == d,
         "rows and knots do not fit together");
  const int64_t* begin = data(starts);
  expect(begin[0] == 0 && begin[d] == int64_t(knots.shape(0)), "starts must span all knots");
  for (size_t c = 0; c < d; ++c) expect(begin[c] < begin[c + 1], "every column needs a knot");
  const Bends bends{data(knots), data(heights), data(slopes), begin};
  const double* from = data(z);
  double* to = data(out);
  nb::gil_scoped_release release;
  bend(from, int64_t(n), int64_t(d), bends, to);
}

void folded(Matrix y, Vector offsets, Matrix shifts, Matrix slopes, MatrixOut out) {
  const size_t n = y.shape(0), k = y.shape(1), levels = shifts.shape(0);
  expect(offsets.shape(0) == k && shifts.shape(1) == k && slopes.shape(1) == k &&
             slopes.shape(0) == levels && out.shape(0) == n && out.shape(1) >= k * levels,
         "projections and creases do not fit together");
  const CreaseLevels f{data(offsets), data(shifts), data(slopes), int64_t(levels), int64_t(k)};
  const double* from = data(y);
  double* to = data(out);
  nb::gil_scoped_release release;
  fold_creases(from, int64_t(n), f, to, int64_t(out.shape(1)));
}

}  // namespace

void bind_creases(nb::module_& m) {
  m.def("standardized", &standardized, "rows"_a.noconvert(), "center"_a.noconvert(),
        "scale"_a.noconvert(), "largest"_a, "out"_a.noconvert());
  m.def("bent", &bent, "z"_a.noconvert(), "knots"_a.noconvert(), "heights"_a.noconvert(),
        "starts"_a.noconvert(), "slopes"_a.noconvert(), "out"_a.noconvert());
  m.def("folded", &folded, "y"_a.noconvert(), "offsets"_a.noconvert(), "shifts"_a.noconvert(),
        "slopes"_a.noconvert(), "out"_a.noconvert());
}
