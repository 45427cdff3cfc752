// The Python face of ordering.
#include "ordering_module.hpp"

#include "arguments.hpp"
#include "ordering.hpp"
#include "returned.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

constexpr int64_t MOST_KEPT = 1 << 16;  // different values of a column

void order(Vector values, IntegersOut out) {
  expect(out.shape(0) == values.shape(0), "there must be a place for each value");
  const double* x = data(values);
  int64_t* to = data(out);
  nb::gil_scoped_release release;
  stable_order(x, int64_t(values.shape(0)), to);
}

template <class T>
void sampled_quantiles(Input<T> X, Integers rows, int n_threads, MatrixOut out) {
  expect_threads(n_threads);
  const Table<T> all = table(X);
  expect(out.shape(0) >= 2 && out.shape(1) == X.shape(1), "an output array has the wrong shape");
  const int64_t *number = data(rows), n = int64_t(rows.shape(0));
  for (int64_t i = 0; i < n; ++i) expect_between(number[i], 0, all.rows - 1, "a row");
  double* to = data(out);
  nb::gil_scoped_release release;
  quantiles(all, number, n, int64_t(out.shape(0)), n_threads, to);
}

// In the order of the fields of refold.columns.extremes.CountedValues.
nb::object fields(CountedValues&& counted) {
  return nb::make_tuple(array(std::move(counted.values)), array(std::move(counted.weights)),
                        array(std::move(counted.rows)));
}

nb::tuple edge(Vector values, Vector weights, Integers rows, int64_t depth, int64_t most) {
  const size_t n = values.shape(0);
  expect(weights.shape(0) == n && rows.shape(0) == n, "a value needs its weight and row");
  expect_between(depth, 1, MOST_KEPT, "depth");
  expect_between(most, depth, MOST_KEPT, "most");
  const double *x = data(values), *w = data(weights);
  const int64_t* numbers = data(rows);
  ColumnEdge found;
  {
    nb::gil_scoped_release release;
    found = edge_of(x, w, numbers, int64_t(n), depth, most);
  }
  if (found.are_few) return nb::make_tuple(fields(std::move(found.all)));
  return nb::make_tuple(fields(std::move(found.low)), fields(std::move(found.high)));
}

}  // namespace

void bind_ordering(nb::module_& m) {
  m.def("order", &order, "values"_a.noconvert(), "out"_a.noconvert());
  m.def("quantiles", &sampled_quantiles<double>, "X"_a.noconvert(), "rows"_a.noconvert(),
        "n_threads"_a, "out"_a.noconvert());
  m.def("quantiles", &sampled_quantiles<float>, "X"_a.noconvert(), "rows"_a.noconvert(),
        "n_threads"_a, "out"_a.noconvert());
  m.def("edge", &edge, "values"_a.noconvert(), "weights"_a.noconvert(), "rows"_a.noconvert(),
        "depth"_a, "most"_a);
}
