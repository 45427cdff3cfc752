// The Python face of the kernels: arrays in, arrays filled, no Python object inside a loop.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

#include "learn.hpp"
#include "score.hpp"
#include "sketch_module.hpp"
#include "svdd_module.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace refold;

namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntegersOut = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Found = std::tuple<int, int64_t, int64_t>;  // Problem: kind, row, column

template <class T>
Table<T> table(const Input<T>& X) {
  return {X.data(), int64_t(X.shape(0)), int64_t(X.shape(1)), X.stride(0), X.stride(1)};
}

Found found(const Problem& p) { return {p.kind, p.row, p.column}; }

// Owns references to the arrays of FoldChain.steps, so that a call passes one object.
struct StepArrays {
  int fold, n_iter;
  Vector offset, unit;
  Matrix shift, factor;
  Integers levels;
  StepArrays(int fold, Vector offset, Vector unit, Matrix shift, Matrix factor, Integers levels)
      : fold(fold), n_iter(int(shift.shape(1))), offset(offset), unit(unit), shift(shift),
        factor(factor), levels(levels) {
    const size_t d = offset.shape(0);
    if (fold < 0 || fold >= N_FOLDS || unit.shape(0) != d || shift.shape(0) != d ||
        factor.shape(0) != d || levels.shape(0) != d || factor.shape(1) != shift.shape(1))
      throw nb::value_error("steps do not fit together");
    for (size_t i = 0; i < d; ++i)
      if (levels(i) < 1 || levels(i) > n_iter)
        throw nb::value_error("a feature's levels must lie between 1 and n_iter");
  }
  Steps view(size_t columns) const {
    if (columns != offset.shape(0)) throw nb::value_error("X and steps differ in width");
    return {fold, n_iter, offset.data(), unit.data(), shift.data(), factor.data(), levels.data()};
  }
};

void expect(bool fits) {
  if (!fits) throw nb::value_error("an output array has the wrong shape");
}

Chain chain(size_t columns, int n_iter, MatrixOut& shifts, MatrixOut& scales, IntegersOut& levels,
            VectorOut& gain) {
  for (const MatrixOut* out : {&shifts, &scales})
    expect(out->shape(0) == size_t(n_iter) && out->shape(1) == columns);
  expect(levels.shape(0) == columns && gain.shape(0) == columns);
  return {shifts.data(), scales.data(), gain.data(), levels.data()};
}

Found learn_from_each(std::vector<Vector> values, std::vector<Vector> weights, int fold, int n_iter,
                      double max_gain, int n_threads, MatrixOut shifts, MatrixOut scales,
                      IntegersOut levels, VectorOut gain) {
  const Chain out = chain(values.size(), n_iter, shifts, scales, levels, gain);
  expect(weights.size() == values.size() && fold >= 0 && fold < N_FOLDS);
  std::vector<WeightedColumn> columns;
  for (size_t c = 0; c < values.size(); ++c) {
    expect(weights[c].shape(0) == values[c].shape(0));
    columns.push_back({values[c].data(), weights[c].data(), int64_t(values[c].shape(0))});
  }
  nb::gil_scoped_release release;
  return found(learn_each(columns, Recipe{fold, n_iter, max_gain}, n_threads, out));
}

template <class T>
void bind(nb::module_& m) {
  m.def(
      "learn",
      [](Input<T> X, std::optional<Vector> weights, int fold, int n_iter, double max_gain,
         int n_threads, MatrixOut shifts, MatrixOut scales, IntegersOut levels, VectorOut gain) {
        const Chain out = chain(X.shape(1), n_iter, shifts, scales, levels, gain);
        expect((!weights || weights->shape(0) == X.shape(0)) && fold >= 0 && fold < N_FOLDS);
        nb::gil_scoped_release release;
        return found(learn(table(X), weights ? weights->data() : nullptr,
                           Recipe{fold, n_iter, max_gain}, n_threads, out));
      },
      "X"_a.noconvert(), "weights"_a.none(), "fold"_a, "n_iter"_a, "max_gain"_a, "n_threads"_a,
      "shifts"_a.noconvert(), "scales"_a.noconvert(), "levels"_a.noconvert(),
      "gain"_a.noconvert());
  m.def(
      "distances",
      [](Input<T> X, const StepArrays& steps, int distance, bool path, int n_threads,
         VectorOut out) {
        expect(out.shape(0) == X.shape(0));
        const Steps s = steps.view(X.shape(1));
        nb::gil_scoped_release release;
        return found(distances(table(X), s, Distance(distance), path, n_threads, out.data()));
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "path"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "trace",
      [](Input<T> X, const StepArrays& steps, int distance, int n_threads, MatrixOut out) {
        expect(out.shape(0) == X.shape(0) && out.shape(1) == size_t(steps.n_iter));
        const Steps s = steps.view(X.shape(1));
        nb::gil_scoped_release release;
        return found(trace(table(X), s, Distance(distance), n_threads, out.data()));
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "transform",
      [](Input<T> X, const StepArrays& steps, int n_threads, MatrixOut out) {
        expect(out.shape(0) == X.shape(0) && out.shape(1) == X.shape(1));
        const Steps s = steps.view(X.shape(1));
        nb::gil_scoped_release release;
        return found(transform(table(X), s, n_threads, out.data()));
      },
      "X"_a.noconvert(), "steps"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "contributions",
      [](Input<T> X, const StepArrays& steps, int distance, bool path, int n_threads,
         MatrixOut out) {
        expect(out.shape(0) == X.shape(0) && out.shape(1) == X.shape(1));
        const Steps s = steps.view(X.shape(1));
        nb::gil_scoped_release release;
        return found(contributions(table(X), s, Distance(distance), path, n_threads, out.data()));
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "path"_a, "n_threads"_a, "out"_a.noconvert());
}

}  // namespace

NB_MODULE(_kernels, m) {
  nb::class_<StepArrays>(m, "Steps").def(
      nb::init<int, Vector, Vector, Matrix, Matrix, Integers>(), "fold"_a, "offset"_a, "unit"_a,
      "shift"_a, "factor"_a, "levels"_a);
  bind<double>(m);
  bind<float>(m);
  m.def("learn_each", &learn_from_each, "values"_a, "weights"_a, "fold"_a, "n_iter"_a, "max_gain"_a,
        "n_threads"_a, "shifts"_a.noconvert(), "scales"_a.noconvert(), "levels"_a.noconvert(),
        "gain"_a.noconvert());
  bind_sketch(m);
  bind_svdd(m);
  m.attr("instruction_set") = instruction_set();
}
