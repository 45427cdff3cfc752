// The Python face of sketching.
#include "sketch_module.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "buffer.hpp"
#include "extremes.hpp"
#include "returned.hpp"
#include "sketch.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

// In the order of the fields of refold.algorithm.engines.sketch.Histogram.
nb::tuple fields(Histogram&& h) {
  return nb::make_tuple(h.exponent, array(std::move(h.bins)), array(std::move(h.counts)),
                        array(std::move(h.positions)), h.low, h.high, h.missing, h.rows);
}

template <class T>
nb::tuple sketch_table(Input<T> X, std::optional<Vector> weights, int64_t n_bins, int n_threads) {
  expect_threads(n_threads);
  expect_between(n_bins, LEAST_BINS, MOST_BINS, "n_bins");
  const Table<T> rows = table(X);
  const double* w = row_weights(weights, X);
  std::vector<Histogram> histograms;
  Problem problem;
  {
    nb::gil_scoped_release release;
    problem = sketch(rows, w, n_bins, n_threads, histograms);
  }
  nb::list parts;
  for (Histogram& h : histograms) parts.append(fields(std::move(h)));
  return nb::make_tuple(found(problem), parts);
}

template <class T>
void look_at_extremes(Input<T> X, std::optional<Vector> weights, int n_threads, VectorOut low,
                      VectorOut high, VectorOut missing) {
  expect_threads(n_threads);
  const Table<T> rows = table(X);
  const double* w = row_weights(weights, X);
  for (const VectorOut* out : {&low, &high, &missing})
    expect(out->shape(0) == X.shape(1), "there must be a place for each column");
  const Extremes out{data(low), data(high), data(missing)};
  nb::gil_scoped_release release;
  extremes(rows, w, n_threads, out);
}

// A tally that any number of threads may add to, one after another. None waits for its turn with the
// GIL in its hands.
class SharedTally {
 public:
  explicit SharedTally(int64_t n_bins)
      : memory_((check(n_bins), Tally::needed(n_bins) + Tally::shared(n_bins))),
        tally_(n_bins, memory_.data() + Tally::shared(n_bins), zeros(n_bins)) {}

  Found add(Vector values, std::optional<Vector> weights, int64_t first, int64_t column) {
    expect(!weights || weights->shape(0) == values.shape(0), "there must be a weight for each row");
    const double *x = data(values), *w = weights ? data(*weights) : nullptr;
    nb::gil_scoped_release release;
    const Lock lock(guard_);
    Problem problem;
    tally_.add(x, w, int64_t(values.shape(0)), first, column, problem);
    return found(problem);
  }

  nb::tuple histogram() {
    Histogram result;
    {
      nb::gil_scoped_release release;
      const Lock lock(guard_);
      result = tally_.histogram();
    }
    return fields(std::move(result));
  }

 private:
  static void check(int64_t n_bins) { expect_between(n_bins, LEAST_BINS, MOST_BINS, "n_bins"); }

  double* zeros(int64_t n_bins) {
    std::fill_n(memory_.data(), Tally::shared(n_bins), 0.0);
    return memory_.data();
  }

  Doubles memory_;
  Tally tally_;
  Mutex guard_;
};

int64_t least_exponent_of(double low, double high, int64_t n_bins) {
  expect(std::isfinite(low) && std::isfinite(high) && low <= high, "a range needs two finite ends");
  expect_between(n_bins, 2, ANY_NUMBER_OF_BINS, "n_bins");
  return least_exponent(low, high, n_bins);
}

template <class T>
void bind(nb::module_& m) {
  m.def("sketch", &sketch_table<T>, "X"_a.noconvert(), "weights"_a.none(), "n_bins"_a,
        "n_threads"_a);
  m.def("extremes", &look_at_extremes<T>, "X"_a.noconvert(), "weights"_a.none(), "n_threads"_a,
        "low"_a.noconvert(), "high"_a.noconvert(), "missing"_a.noconvert());
}

}  // namespace

void bind_sketch(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
  m.def("least_exponent", &least_exponent_of, "low"_a, "high"_a, "n_bins"_a);
  nb::class_<SharedTally>(m, "Tally")
      .def(nb::init<int64_t>(), "n_bins"_a)
      .def("add", &SharedTally::add, "values"_a.noconvert(), "weights"_a.none(), "first"_a,
           "column"_a)
      .def("histogram", &SharedTally::histogram);
  m.attr("LEAST_BINS") = LEAST_BINS;
  m.attr("MOST_BINS") = MOST_BINS;
  m.attr("ANY_NUMBER_OF_BINS") = ANY_NUMBER_OF_BINS;
}
