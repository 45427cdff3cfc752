// The Python face of sketching.
#include "sketch_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "extremes.hpp"
#include "sketch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace refold;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Found = std::tuple<int, int64_t, int64_t>;  // Problem: kind, row, column

template <class T>
Table<T> table(const Input<T>& X, const std::optional<Vector>& weights) {
  if (weights && weights->shape(0) != X.shape(0))
    throw nb::value_error("there must be a weight for each row");
  return {X.data(), int64_t(X.shape(0)), int64_t(X.shape(1)), X.stride(0), X.stride(1)};
}

const double* pointer(const std::optional<Vector>& weights) {
  return weights ? weights->data() : nullptr;
}

Found found(const Problem& p) { return {p.kind, p.row, p.column}; }

// An array that owns the vector's memory.
template <class T>
nb::object array(std::vector<T>&& values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner).cast();
}

// In the order of the fields of refold.algorithm.engines.sketch.Histogram.
nb::tuple fields(Histogram&& h) {
  return nb::make_tuple(h.exponent, array(std::move(h.bins)), array(std::move(h.counts)),
                        array(std::move(h.positions)), h.low, h.high, h.missing, h.rows);
}

template <class T>
nb::tuple sketch_table(Input<T> X, std::optional<Vector> weights, int64_t n_bins, int n_threads) {
  const Table<T> rows = table(X, weights);
  std::vector<Histogram> histograms;
  Problem problem;
  {
    nb::gil_scoped_release release;
    problem = sketch(rows, pointer(weights), n_bins, n_threads, histograms);
  }
  nb::list parts;
  for (Histogram& h : histograms) parts.append(fields(std::move(h)));
  return nb::make_tuple(found(problem), parts);
}

template <class T>
void look_at_extremes(Input<T> X, std::optional<Vector> weights, int n_threads, VectorOut low,
                      VectorOut high, VectorOut missing) {
  const Table<T> rows = table(X, weights);
  for (const VectorOut* out : {&low, &high, &missing})
    if (out->shape(0) != X.shape(1)) throw nb::value_error("there must be a place for each column");
  nb::gil_scoped_release release;
  extremes(rows, pointer(weights), n_threads, {low.data(), high.data(), missing.data()});
}

Found add(Tally& tally, Vector values, int64_t first, int64_t column) {
  nb::gil_scoped_release release;
  Problem problem;
  tally.add(values.data(), nullptr, int64_t(values.shape(0)), first, column, problem);
  return found(problem);
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
  m.def("least_exponent", &least_exponent, "low"_a, "high"_a, "n_bins"_a);
  nb::class_<Tally>(m, "Tally")
      .def(nb::init<int64_t>(), "n_bins"_a)
      .def("add", &add, "values"_a.noconvert(), "first"_a, "column"_a)
      .def("histogram", [](const Tally& tally) { return fields(tally.histogram()); });
}
