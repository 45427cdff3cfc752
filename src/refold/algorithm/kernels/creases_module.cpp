// The Python face of the creases and of dense matrices.
#include "creases_module.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "arguments.hpp"
#include "creases.hpp"
#include "dense.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

double* matrix_out(const MatrixOut& out, int64_t rows, int64_t columns) {
  expect(int64_t(out.shape(0)) == rows && int64_t(out.shape(1)) == columns,
         "an output array has the wrong shape");
  return data(out);
}

double* vector_out(const VectorOut& out, int64_t rows) {
  expect(int64_t(out.shape(0)) == rows, "an output array has the wrong shape");
  return data(out);
}

// Where the parts of `size` values begin, as it was when it was checked.
std::vector<int64_t> checked_starts(const Integers& starts, size_t parts, size_t size,
                                    int64_t least) {
  expect(starts.shape(0) == parts + 1, "starts must be one more than the columns");
  const int64_t* begin = data(starts);
  expect(begin[0] == 0 && begin[parts] == int64_t(size), "starts must span all values");
  for (size_t c = 0; c < parts; ++c)
    expect(begin[c] <= int64_t(size) && begin[c] + least <= begin[c + 1],
           least ? "every column needs a knot" : "starts must not descend");
  return {begin, begin + parts + 1};
}

// Numbers of features, each once, as they were when they were checked.
std::vector<int64_t> checked_features(const Integers& features, int64_t p) {
  std::vector<int64_t> found(data(features), data(features) + features.shape(0));
  std::vector<char> seen(p, 0);
  for (int64_t i : found) expect(0 <= i && i < p && !seen[i]++, "features must be there, once");
  return found;
}

// Knots of columns; owns references to its arrays.
struct BendArrays {
  Vector knots, heights;
  std::vector<int64_t> starts;
  Vector slopes;

  BendArrays(Vector knots, Vector heights, Integers starts, Vector slopes)
      : knots(knots),
        heights(heights),
        starts(checked_starts(starts, slopes.shape(0), knots.shape(0), 1)),
        slopes(slopes) {
    expect(heights.shape(0) == knots.shape(0), "knots do not fit together");
  }
  int64_t columns() const { return int64_t(slopes.shape(0)); }
  Bends view() const { return {data(knots), data(heights), data(slopes), starts.data()}; }
};

void bent(const BendArrays& bends, Matrix z, MatrixOut out) {
  const int64_t n = int64_t(z.shape(0)), d = int64_t(z.shape(1));
  expect(d == bends.columns(), "rows and knots do not fit together");
  const Bends b = bends.view();
  const double* from = data(z);
  double* to = matrix_out(out, n, d);
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < n * d; ++i) to[i] = b.at(i % d, from[i]);
}

bool standardize(Matrix rows, Vector center, Vector scale, double largest, MatrixOut out) {
  const int64_t n = int64_t(rows.shape(0)), d = int64_t(rows.shape(1));
  expect(int64_t(center.shape(0)) == d && int64_t(scale.shape(0)) == d,
         "rows, center and scale do not fit together");
  const double *x = data(rows), *c = data(center), *s = data(scale);
  double* to = matrix_out(out, n, d);
  nb::gil_scoped_release release;
  bool missing = false;
  for (int64_t i = 0; i < n * d; ++i) {
    to[i] = standardized(x[i], c[i % d], s[i % d], largest);
    missing |= to[i] != to[i];
  }
  return missing;
}

// The creases in panels, and references to the arrays that are read where they are.
struct Map {
  Vector center, scale;
  Integers which;
  Matrix precision;
  std::optional<BendArrays> bends;
  std::unique_ptr<CreaseMap> made;

  Map(Vector center, Vector scale, Integers which, Matrix directions, Vector offsets, Matrix shifts,
      Matrix slopes, Matrix precision, std::optional<BendArrays> bends, bool constants,
      double largest)
      : center(center), scale(scale), which(which), precision(precision), bends(bends) {
    const size_t d = center.shape(0), v = which.shape(0), c = offsets.shape(0), j = shifts.shape(0);
    expect(d > 0 && scale.shape(0) == d && v <= d && directions.shape(0) == c && j > 0 &&
               directions.shape(1) == v && shifts.shape(1) == c && slopes.shape(0) == j &&
               slopes.shape(1) == c && precision.shape(0) == v && precision.shape(1) == v &&
               (!bends || bends->columns() == int64_t(v)),
           "creases do not fit together");
    const int64_t* column = data(which);
    for (size_t k = 0; k < v; ++k)
      expect(column[k] >= (k ? column[k - 1] + 1 : 0) && column[k] < int64_t(d),
             "the varying columns must be numbers of columns that ascend");
    const CreaseArrays arrays{int64_t(d),
                              int64_t(v),
                              int64_t(c),
                              int64_t(j),
                              data(this->center),
                              data(this->scale),
                              column,
                              data(directions),
                              data(offsets),
                              data(shifts),
                              data(slopes),
                              data(this->precision),
                              bends ? this->bends->view() : Bends{},
                              bends.has_value(),
                              constants,
                              largest};
    made = std::make_unique<CreaseMap>(arrays);
  }

  template <class T>
  Table<T> read(const Input<T>& X) const {
    expect(int64_t(X.shape(1)) == made->columns(), "X and the creases differ in width");
    return table(X);
  }
};

struct Form {
  std::unique_ptr<LeverageForm> made;

  Form(const Map& map, Vector center, Matrix factor, double weight, double ridge, bool dual,
       int n_threads, Integers some, Matrix some_inverted) {
    expect_threads(n_threads);
    const int64_t p = map.made->outputs(), rows = int64_t(factor.shape(0));
    expect(int64_t(center.shape(0)) == p && int64_t(factor.shape(1)) == p && (dual || rows <= p),
           "creases, center and factor do not fit together");
    expect(weight > 0.0 && ridge > 0.0, "weight and ridge must be above zero");
    const std::vector<int64_t> features = checked_features(some, p);
    expect(some_inverted.shape(0) == features.size() && some_inverted.shape(1) == features.size(),
           "a factor of some features does not fit them");
    const double *c = data(center), *f = data(factor), *inverse = data(some_inverted);
    const bool triangular = !dual && rows == p;
    nb::gil_scoped_release release;
    Doubles inverted(triangular ? p * p : 0);
    if (triangular) solve(f, p, nullptr, p, n_threads, inverted.data());
    made = std::make_unique<LeverageForm>(*map.made, c, triangular ? inverted.data() : f, rows,
                                          weight, ridge, dual, features, inverse);
  }
  const LeverageForm& of(const Map& map) const {
    expect(made->fits(*map.made), "the form is one of other creases");
    return *made;
  }
};

// A box, column by column; owns references to its arrays.
struct Sides {
  Vector low, high, unit, known;
  std::vector<int64_t> starts, discrete;

  Sides(Vector low, Vector high, Vector unit, Vector known, Integers starts, Integers discrete)
      : low(low),
        high(high),
        unit(unit),
        known(known),
        starts(checked_starts(starts, low.shape(0), known.shape(0), 0)),
        discrete(data(discrete), data(discrete) + discrete.shape(0)) {
    const size_t d = low.shape(0);
    expect(high.shape(0) == d && unit.shape(0) == d && discrete.shape(0) == d,
           "the columns of the box do not fit together");
  }
  BoxArrays view(int64_t columns) const {
    expect(columns == int64_t(low.shape(0)), "X and the box differ in width");
    return {columns,     data(low),     data(high),     data(unit),
            data(known), starts.data(), discrete.data()};
  }
};

void excess_of(const Sides& sides, Matrix rows, MatrixOut out) {
  const int64_t n = int64_t(rows.shape(0)), d = int64_t(rows.shape(1));
  const BoxArrays box = sides.view(d);
  const double* x = data(rows);
  double* to = matrix_out(out, n, d);
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < n * d; ++i) to[i] = box.excess(i % d, x[i]);
}

void filled(MatrixOut z, Matrix precision) {
  const int64_t n = int64_t(z.shape(0)), v = int64_t(z.shape(1));
  expect(int64_t(precision.shape(0)) == v && int64_t(precision.shape(1)) == v,
         "rows and precision do not fit together");
  const double* p = data(precision);
  double* row = data(z);
  nb::gil_scoped_release release;
  Filler filler(p, v);
  for (int64_t r = 0; r < n; ++r, row += v)
    if (std::any_of(row, row + v, [](double x) { return x != x; })) filler.fill(row);
}

// Rows that were learned; owns references to its arrays.
struct Known {
  Matrix marks;
  Vector distances;
  Matrix weights;
  Vector gaps;
  double tolerance;

  Known(Matrix marks, Vector distances, Matrix weights, Vector gaps, double tolerance)
      : marks(marks), distances(distances), weights(weights), gaps(gaps), tolerance(tolerance) {
    expect(marks.shape(1) == MARKS && weights.shape(1) == MARKS &&
               distances.shape(0) == marks.shape(0) && gaps.shape(0) == weights.shape(0),
           "the marks do not fit together");
  }
  KnownArrays view(int64_t columns) const {
    expect(columns == int64_t(gaps.shape(0)), "X and the marks differ in width");
    return {int64_t(marks.shape(0)),
            data(marks),
            data(distances),
            {columns, data(weights), data(gaps)},
            tolerance};
  }
};

void find(const Known& known, Matrix z, IntegersOut out) {
  const int64_t n = int64_t(z.shape(0)), d = int64_t(z.shape(1));
  const KnownArrays rows = known.view(d);
  const double* from = data(z);
  expect(int64_t(out.shape(0)) == n, "an output array has the wrong shape");
  int64_t* to = data(out);
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < n; ++i) to[i] = rows.find(from + i * d);
}

void marks_of(Matrix z, Matrix weights, Vector gaps, MatrixOut out) {
  const int64_t n = int64_t(z.shape(0)), d = int64_t(z.shape(1));
  expect(int64_t(weights.shape(0)) == d && weights.shape(1) == MARKS && int64_t(gaps.shape(0)) == d,
         "rows and weights do not fit together");
  const MarkWeights by{d, data(weights), data(gaps)};
  const double* from = data(z);
  double* to = matrix_out(out, n, MARKS);
  nb::gil_scoped_release release;
  for (int64_t i = 0; i < n; ++i) by.mark(from + i * d, to + i * MARKS);
}

template <class T>
void features_of(const Map& map, Input<T> X, int n_threads, MatrixOut out) {
  expect_threads(n_threads);
  const Table<T> rows = map.read(X);
  double* to = matrix_out(out, rows.rows, map.made->outputs());
  nb::gil_scoped_release release;
  features(*map.made, rows, n_threads, to);
}

template <class T>
void norms_of(const Map& map, Input<T> X, int n_threads, VectorOut out) {
  expect_threads(n_threads);
  const Table<T> rows = map.read(X);
  double* to = vector_out(out, rows.rows);
  nb::gil_scoped_release release;
  norms(*map.made, rows, n_threads, to);
}

template <class T>
void sums_of(const Map& map, Input<T> X, Vector weights, int n_threads, VectorOut total,
             MatrixOut gram) {
  expect_threads(n_threads);
  const Table<T> rows = map.read(X);
  const int64_t p = map.made->outputs();
  expect(int64_t(weights.shape(0)) == rows.rows, "there must be a weight for each row");
  const double* w = data(weights);
  const FeatureSums out{vector_out(total, p), matrix_out(gram, p, p)};
  nb::gil_scoped_release release;
  sum_features(*map.made, rows, w, n_threads, out);
}

void products_of(Matrix phi, Vector weights, int n_threads, VectorOut total, MatrixOut gram) {
  expect_threads(n_threads);
  const int64_t n = int64_t(phi.shape(0)), p = int64_t(phi.shape(1));
  expect(int64_t(weights.shape(0)) == n, "there must be a weight for each row");
  const double *from = data(phi), *w = data(weights);
  const FeatureSums out{vector_out(total, p), matrix_out(gram, p, p)};
  nb::gil_scoped_release release;
  sum_products(from, n, p, w, n_threads, out);
}

template <class T>
Found leverages_of(const Map& map, const Form& form, Input<T> X, int n_threads, VectorOut out) {
  expect_threads(n_threads);
  const Table<T> rows = map.read(X);
  const LeverageForm& made = form.of(map);
  double* to = vector_out(out, rows.rows);
  nb::gil_scoped_release release;
  return found(leverages(*map.made, made, rows, n_threads, to));
}

template <class T>
Found distances_of(const Map& map, const Form& form, const Sides* sides, const Known* known,
                   double typical, double unit, double gain, double most, Input<T> X, int n_threads,
                   VectorOut out) {
  expect_threads(n_threads);
  const Table<T> rows = map.read(X);
  const BoxArrays box = sides ? sides->view(rows.columns) : BoxArrays{};
  const KnownArrays before = known ? known->view(rows.columns) : KnownArrays{};
  const DistanceRecipe how{
      &form.of(map), sides ? &box : nullptr, known ? &before : nullptr, typical, unit, gain, most};
  double* to = vector_out(out, rows.rows);
  nb::gil_scoped_release release;
  return found(crease_distances(*map.made, how, rows, n_threads, to));
}

void variants_of(const Map& map, const Form& form, Matrix z, Matrix instead, Integers owners,
                 Matrix changed, int n_threads, MatrixOut scores, MatrixOut across) {
  expect_threads(n_threads);
  const int64_t n = int64_t(z.shape(0)), v = map.made->varying(),
                groups = int64_t(changed.shape(1)) - 1;
  expect(int64_t(z.shape(1)) == v && int64_t(instead.shape(0)) == n &&
             int64_t(instead.shape(1)) == v && int64_t(owners.shape(0)) == v &&
             int64_t(changed.shape(0)) == n && groups >= 0,
         "rows, replacements and owners do not fit together");
  const int64_t* owner = data(owners);
  for (int64_t k = 0; k < v; ++k) expect_between(owner[k], -1, groups - 1, "an owner");
  const LeverageForm& made = form.of(map);
  const VariantArrays arrays{n, groups, data(z), data(instead), data(changed), owner};
  double *to = matrix_out(scores, n, 1 + groups), *common = matrix_out(across, n, 1 + groups);
  nb::gil_scoped_release release;
  variants(*map.made, made, arrays, n_threads, to, common);
}

void levels_of(Matrix rows, Matrix directions, Vector offsets, Vector weights, double least,
               int n_threads, MatrixOut shifts, MatrixOut spreads) {
  expect_threads(n_threads);
  const int64_t n = int64_t(rows.shape(0)), v = int64_t(rows.shape(1)),
                c = int64_t(offsets.shape(0)), j = int64_t(shifts.shape(0));
  expect(int64_t(directions.shape(0)) == c && int64_t(directions.shape(1)) == v &&
             int64_t(weights.shape(0)) == n,
         "rows, directions and weights do not fit together");
  const MeasureArrays arrays{
      n, v, c, j, data(rows), data(directions), data(offsets), data(weights), least};
  double *to_shifts = matrix_out(shifts, j, c), *to_spreads = matrix_out(spreads, j, c);
  nb::gil_scoped_release release;
  measure(arrays, n_threads, to_shifts, to_spreads);
}

void product(Matrix A, Matrix B, int n_threads, MatrixOut out) {
  expect_threads(n_threads);
  const int64_t n = int64_t(A.shape(0)), m = int64_t(B.shape(0)), k = int64_t(A.shape(1));
  expect(int64_t(B.shape(1)) == k, "the matrices do not fit together");
  const double *a = data(A), *b = data(B);
  double* to = matrix_out(out, n, m);
  nb::gil_scoped_release release;
  multiply(a, n, b, m, k, n_threads, to);
}

// Sums of all features or of some of them, which are numbered as they were when they were checked.
struct ScatterArrays {
  std::vector<int64_t> some;
  Scatter view;

  ScatterArrays(const Matrix& upper, const std::optional<Vector>& center, double weight,
                double ridge, const std::optional<Integers>& features = std::nullopt) {
    const int64_t p = int64_t(upper.shape(0));
    expect(int64_t(upper.shape(1)) == p && (!center || int64_t(center->shape(0)) == p),
           "the matrix must be square, and as wide as its center");
    if (features) some = checked_features(*features, p);
    view = {features ? int64_t(some.size()) : p,
            data(upper),
            center ? data(*center) : nullptr,
            weight,
            ridge,
            p,
            features ? some.data() : nullptr};
  }
};

bool factored(Matrix upper, std::optional<Vector> center, double weight, double ridge,
              MatrixOut L) {
  const ScatterArrays scatter(upper, center, weight, ridge);
  double* to = matrix_out(L, scatter.view.size, scatter.view.size);
  nb::gil_scoped_release release;
  return cholesky(scatter.view, to);
}

bool pivots_of(Matrix upper, std::optional<Vector> center, double weight, double ridge,
               int64_t steps, IntegersOut order) {
  const ScatterArrays scatter(upper, center, weight, ridge);
  expect(int64_t(order.shape(0)) == scatter.view.size, "an output array has the wrong shape");
  expect(0 <= steps && steps <= scatter.view.size, "there are not so many features");
  int64_t* to = data(order);
  nb::gil_scoped_release release;
  return pivots(scatter.view, steps, to);
}

bool last_rows_of(Matrix upper, std::optional<Vector> center, double weight, double ridge,
                  Integers features, int n_threads, MatrixOut out) {
  expect_threads(n_threads);
  const ScatterArrays scatter(upper, center, weight, ridge, features);
  const int64_t count = int64_t(out.shape(0));
  expect(count <= scatter.view.size, "there are not so many features");
  double* to = matrix_out(out, count, scatter.view.width);
  nb::gil_scoped_release release;
  return last_rows(scatter.view, count, n_threads, to);
}

void solved(Matrix L, std::optional<Matrix> B, int n_threads, MatrixOut out) {
  expect_threads(n_threads);
  const int64_t p = int64_t(L.shape(0)), columns = B ? int64_t(B->shape(1)) : p;
  expect(int64_t(L.shape(1)) == p && (!B || int64_t(B->shape(0)) == p),
         "the matrices do not fit together");
  const double *from = data(L), *right = B ? data(*B) : nullptr;
  double* to = matrix_out(out, p, columns);
  nb::gil_scoped_release release;
  solve(from, p, right, columns, n_threads, to);
}

template <class T>
void bind_tables(nb::module_& m) {
  m.def("crease_features", &features_of<T>, "creases"_a, "X"_a.noconvert(), "n_threads"_a,
        "out"_a.noconvert());
  m.def("crease_norms", &norms_of<T>, "creases"_a, "X"_a.noconvert(), "n_threads"_a,
        "out"_a.noconvert());
  m.def("crease_sums", &sums_of<T>, "creases"_a, "X"_a.noconvert(), "weights"_a.noconvert(),
        "n_threads"_a, "total"_a.noconvert(), "gram"_a.noconvert());
  m.def("leverages", &leverages_of<T>, "creases"_a, "form"_a, "X"_a.noconvert(), "n_threads"_a,
        "out"_a.noconvert());
  m.def("crease_distances", &distances_of<T>, "creases"_a, "form"_a, "box"_a.none(),
        "known"_a.none(), "typical"_a, "unit"_a, "gain"_a, "most"_a, "X"_a.noconvert(),
        "n_threads"_a, "out"_a.noconvert());
}

}  // namespace

void bind_creases(nb::module_& m) {
  nb::class_<BendArrays>(m, "Bends")
      .def(nb::init<Vector, Vector, Integers, Vector>(), "knots"_a.noconvert(),
           "heights"_a.noconvert(), "starts"_a.noconvert(), "slopes"_a.noconvert());
  nb::class_<Map>(m, "CreaseMap")
      .def(nb::init<Vector, Vector, Integers, Matrix, Vector, Matrix, Matrix, Matrix,
                    std::optional<BendArrays>, bool, double>(),
           "center"_a.noconvert(), "scale"_a.noconvert(), "varying"_a.noconvert(),
           "directions"_a.noconvert(), "offsets"_a.noconvert(), "shifts"_a.noconvert(),
           "slopes"_a.noconvert(), "precision"_a.noconvert(), "bends"_a.none(), "constants"_a,
           "largest"_a)
      .def_prop_ro("outputs", [](const Map& map) { return map.made->outputs(); });
  nb::class_<Form>(m, "LeverageForm")
      .def(nb::init<const Map&, Vector, Matrix, double, double, bool, int, Integers, Matrix>(),
           "creases"_a, "center"_a.noconvert(), "factor"_a.noconvert(), "weight"_a, "ridge"_a,
           "dual"_a, "n_threads"_a, "some"_a.noconvert(), "some_inverted"_a.noconvert());
  nb::class_<Sides>(m, "BoxSides")
      .def(nb::init<Vector, Vector, Vector, Vector, Integers, Integers>(), "low"_a.noconvert(),
           "high"_a.noconvert(), "unit"_a.noconvert(), "known"_a.noconvert(),
           "starts"_a.noconvert(), "discrete"_a.noconvert());
  nb::class_<Known>(m, "KnownMarks")
      .def(nb::init<Matrix, Vector, Matrix, Vector, double>(), "marks"_a.noconvert(),
           "distances"_a.noconvert(), "weights"_a.noconvert(), "gaps"_a.noconvert(), "tolerance"_a);
  m.def("standardized", &standardize, "rows"_a.noconvert(), "center"_a.noconvert(),
        "scale"_a.noconvert(), "largest"_a, "out"_a.noconvert());
  m.def("bent", &bent, "bends"_a, "z"_a.noconvert(), "out"_a.noconvert());
  m.def("filled", &filled, "z"_a.noconvert(), "precision"_a.noconvert());
  m.def("box_excess", &excess_of, "box"_a, "rows"_a.noconvert(), "out"_a.noconvert());
  m.attr("MARKS") = MARKS;
  m.def("row_marks", &marks_of, "z"_a.noconvert(), "weights"_a.noconvert(), "gaps"_a.noconvert(),
        "out"_a.noconvert());
  m.def("find_known", &find, "known"_a, "z"_a.noconvert(), "out"_a.noconvert());
  bind_tables<float>(m);
  bind_tables<double>(m);
  m.def("sum_products", &products_of, "phi"_a.noconvert(), "weights"_a.noconvert(), "n_threads"_a,
        "total"_a.noconvert(), "gram"_a.noconvert());
  m.def("crease_variants", &variants_of, "creases"_a, "form"_a, "z"_a.noconvert(),
        "instead"_a.noconvert(), "owners"_a.noconvert(), "changed"_a.noconvert(), "n_threads"_a,
        "scores"_a.noconvert(), "across"_a.noconvert());
  m.def("crease_levels", &levels_of, "rows"_a.noconvert(), "directions"_a.noconvert(),
        "offsets"_a.noconvert(), "weights"_a.noconvert(), "least"_a, "n_threads"_a,
        "shifts"_a.noconvert(), "spreads"_a.noconvert());
  m.def("product", &product, "A"_a.noconvert(), "B"_a.noconvert(), "n_threads"_a,
        "out"_a.noconvert());
  m.def("solve_lower", &solved, "L"_a.noconvert(), "B"_a.noconvert().none(), "n_threads"_a,
        "out"_a.noconvert());
  m.def("cholesky", &factored, "upper"_a.noconvert(), "center"_a.noconvert().none(), "weight"_a,
        "ridge"_a, "L"_a.noconvert());
  m.def("pivots", &pivots_of, "upper"_a.noconvert(), "center"_a.noconvert().none(), "weight"_a,
        "ridge"_a, "steps"_a, "order"_a.noconvert());
  m.def("last_rows", &last_rows_of, "upper"_a.noconvert(), "center"_a.noconvert().none(),
        "weight"_a, "ridge"_a, "features"_a.noconvert(), "n_threads"_a, "out"_a.noconvert());
}
