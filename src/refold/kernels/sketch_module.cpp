// The Python face of sketching.
#include "sketch_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <vector>

#include "sketch.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace refold;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Weights = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Extremes = nb::ndarray<double, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;
using Cells = nb::ndarray<double, nb::shape<-1, -1, 2>, nb::c_contig, nb::device::cpu>;

// places: exponent, first bin and number of rows; extremes: lowest, highest value, missing weight.
template <class T>
std::tuple<int, int64_t, int64_t> sketch_table(Input<T> X, std::optional<Weights> weights,
                                               int n_threads, Places places, Extremes extremes,
                                               Cells cells) {
  const size_t columns = X.shape(1);
  if (places.shape(0) != columns || extremes.shape(0) != columns || cells.shape(0) != columns ||
      (weights && weights->shape(0) != X.shape(0)))
    throw nb::value_error("the arrays of a sketch do not fit together");
  const Table<T> table{X.data(), int64_t(X.shape(0)), int64_t(columns), X.stride(0), X.stride(1)};
  nb::gil_scoped_release release;
  std::vector<HistogramInfo> info(columns);
  const Problem p = sketch(table, weights ? weights->data() : nullptr, int64_t(cells.shape(1)),
                           n_threads, info.data(), cells.data());
  for (size_t c = 0; c < columns; ++c) {
    const HistogramInfo& h = info[c];
    int64_t* place = places.data() + 3 * c;
    double* extreme = extremes.data() + 3 * c;
    place[0] = h.exponent, place[1] = h.first, place[2] = h.rows;
    extreme[0] = h.low, extreme[1] = h.high, extreme[2] = h.missing;
  }
  return {p.kind, p.row, p.column};
}

template <class T>
void bind(nb::module_& m) {
  m.def("sketch", &sketch_table<T>, "X"_a.noconvert(), "weights"_a.none(), "n_threads"_a,
        "places"_a.noconvert(), "extremes"_a.noconvert(), "cells"_a.noconvert());
}

}  // namespace

void bind_sketch(nb::module_& m) {
  bind<double>(m);
  bind<float>(m);
  m.def("least_exponent", &least_exponent, "low"_a, "high"_a, "n_bins"_a);
}
