// The Python face of the kernels: arrays in, arrays filled, no Python object inside a loop.
#include <nanobind/stl/vector.h>

#include <cmath>
#include <vector>

#include "arguments.hpp"
#include "creases_module.hpp"
#include "learn.hpp"
#include "left_out.hpp"
#include "ordering_module.hpp"
#include "score.hpp"
#include "sketch_module.hpp"
#include "svdd_module.hpp"
#include "texts_module.hpp"

using namespace refold;
using namespace nb::literals;

// Python acts on signals in its main thread alone; in any other this finds nothing.
void refold::check_signals() {
  nb::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

namespace {

// Owns references to the arrays of FoldChain.steps, so that a call passes one object.
struct StepArrays {
  int fold;
  Vector offset, unit;
  Matrix shift, factor;
  Integers levels;

  StepArrays(int fold, Vector offset, Vector unit, Matrix shift, Matrix factor, Integers levels)
      : fold(fold), offset(offset), unit(unit), shift(shift), factor(factor), levels(levels) {
    expect_between(fold, 0, N_FOLDS - 1, "fold");
    expect_between(int64_t(shift.shape(1)), 1, MOST_LEVELS, "n_iter");
    const size_t d = offset.shape(0);
    expect(unit.shape(0) == d && shift.shape(0) == d && factor.shape(0) == d &&
               levels.shape(0) == d && factor.shape(1) == shift.shape(1),
           "steps do not fit together");
  }

  int n_iter() const { return int(shift.shape(1)); }

  Steps view(size_t columns) const {
    expect(columns == offset.shape(0), "X and steps differ in width");
    const int64_t* used = data(levels);
    for (size_t d = 0; d < columns; ++d) expect_between(used[d], 1, n_iter(), "levels");
    return {fold, n_iter(), data(offset), data(unit), data(shift), data(factor), used};
  }
};

template <class Out>
double* output(const Out& out, size_t rows, size_t columns = 1) {
  const bool fits = out.shape(0) == rows && (out.ndim() == 1 || out.shape(1) == columns);
  expect(fits, "an output array has the wrong shape");
  return data(out);
}

Distance known(int distance) {
  expect_between(distance, 0, N_DISTANCES - 1, "distance");
  return Distance(distance);
}

Recipe recipe(int fold, int n_iter, double max_gain) {
  expect_between(fold, 0, N_FOLDS - 1, "fold");
  expect_between(n_iter, 1, MOST_LEVELS, "n_iter");
  expect(max_gain >= 1.0 && std::isfinite(max_gain), "max_gain must be a number from 1 on");
  return {fold, n_iter, max_gain};
}

Chain chain(size_t columns, int n_iter, const MatrixOut& shifts, const MatrixOut& scales,
            const IntegersOut& levels, const VectorOut& gain) {
  expect(levels.shape(0) == columns, "an output array has the wrong shape");
  return {output(shifts, n_iter, columns), output(scales, n_iter, columns), output(gain, columns),
          data(levels)};
}

WeightedColumn column(const Vector& values, const Vector& weights) {
  const int64_t size = int64_t(values.shape(0));
  expect(int64_t(weights.shape(0)) == size, "there must be a weight for each value");
  const double *x = data(values), *w = data(weights);
  for (int64_t i = 0; i < size; ++i)
    expect(std::isfinite(x[i]) && w[i] > 0.0, "values must be finite and weights above zero");
  return {x, w, size};
}

Found learn_from_each(std::vector<Vector> values, std::vector<Vector> weights, int fold, int n_iter,
                      double max_gain, int n_threads, MatrixOut shifts, MatrixOut scales,
                      IntegersOut levels, VectorOut gain) {
  expect_threads(n_threads);
  const Recipe how = recipe(fold, n_iter, max_gain);
  expect(!values.empty() && weights.size() == values.size(), "every column needs its weights");
  const Chain out = chain(values.size(), n_iter, shifts, scales, levels, gain);
  std::vector<WeightedColumn> columns;
  for (size_t c = 0; c < values.size(); ++c) columns.push_back(column(values[c], weights[c]));
  nb::gil_scoped_release release;
  return found(learn_each(columns, how, n_threads, out));
}

template <class T>
Found learn_table(Input<T> X, std::optional<Vector> weights, int fold, int n_iter, double max_gain,
                  int n_threads, MatrixOut shifts, MatrixOut scales, IntegersOut levels,
                  VectorOut gain) {
  expect_threads(n_threads);
  const Table<T> rows = table(X);
  const Recipe how = recipe(fold, n_iter, max_gain);
  const double* w = row_weights(weights, X);
  const Chain out = chain(X.shape(1), n_iter, shifts, scales, levels, gain);
  nb::gil_scoped_release release;
  return found(learn(rows, w, how, n_threads, out));
}

template <class T>
Found learn_left_out(Input<T> X, int64_t parts, int fold, int n_iter, double max_gain, int distance,
                     bool path, int n_threads, VectorOut out) {
  expect_threads(n_threads);
  const Table<T> rows = table(X);
  const Recipe how = recipe(fold, n_iter, max_gain);
  const Distance kind = known(distance);
  expect(kind == Distance::L1 || !path, "the mean of L2 over levels is no sum over features");
  expect_between(parts, 2, std::max<int64_t>(rows.rows, 2), "parts");
  double* to = output(out, X.shape(0));
  nb::gil_scoped_release release;
  return found(left_out(rows, how, parts, kind, path, n_threads, to));
}

// A scoring kernel on checked arguments; run(table, steps, out) is called without the GIL.
template <class T, class Out, class Run>
Found score(const Input<T>& X, const StepArrays& steps, int n_threads, const Out& out,
            size_t columns, Run run) {
  expect_threads(n_threads);
  const Table<T> rows = table(X);
  const Steps s = steps.view(X.shape(1));
  double* to = output(out, X.shape(0), columns);
  nb::gil_scoped_release release;
  return found(run(rows, s, to));
}

template <class T>
void bind(nb::module_& m) {
  m.def("learn", &learn_table<T>, "X"_a.noconvert(), "weights"_a.none(), "fold"_a, "n_iter"_a,
        "max_gain"_a, "n_threads"_a, "shifts"_a.noconvert(), "scales"_a.noconvert(),
        "levels"_a.noconvert(), "gain"_a.noconvert());
  m.def("left_out", &learn_left_out<T>, "X"_a.noconvert(), "parts"_a, "fold"_a, "n_iter"_a,
        "max_gain"_a, "distance"_a, "path"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "distances",
      [](Input<T> X, const StepArrays& steps, int distance, bool path, int n_threads,
         VectorOut out) {
        const Distance kind = known(distance);
        return score(X, steps, n_threads, out, 1,
                     [=](const auto& rows, const Steps& s, double* to) {
                       return distances(rows, s, kind, path, n_threads, to);
                     });
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "path"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "trace",
      [](Input<T> X, const StepArrays& steps, int distance, int n_threads, MatrixOut out) {
        const Distance kind = known(distance);
        return score(X, steps, n_threads, out, steps.n_iter(),
                     [=](const auto& rows, const Steps& s, double* to) {
                       return trace(rows, s, kind, n_threads, to);
                     });
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "transform",
      [](Input<T> X, const StepArrays& steps, int n_threads, MatrixOut out) {
        return score(X, steps, n_threads, out, X.shape(1),
                     [=](const auto& rows, const Steps& s, double* to) {
                       return transform(rows, s, n_threads, to);
                     });
      },
      "X"_a.noconvert(), "steps"_a, "n_threads"_a, "out"_a.noconvert());
  m.def(
      "contributions",
      [](Input<T> X, const StepArrays& steps, int distance, bool path, int n_threads,
         VectorOut totals, MatrixOut out) {
        const Distance kind = known(distance);
        double* sums = output(totals, X.shape(0), 1);
        return score(X, steps, n_threads, out, X.shape(1),
                     [=](const auto& rows, const Steps& s, double* to) {
                       return contributions(rows, s, kind, path, n_threads, sums, to);
                     });
      },
      "X"_a.noconvert(), "steps"_a, "distance"_a, "path"_a, "n_threads"_a,
      "distances"_a.noconvert(), "out"_a.noconvert());
}

template <size_t N>
nb::tuple names(const char* const (&all)[N]) {
  nb::list list;
  for (const char* name : all) list.append(name);
  return nb::tuple(list);
}

// What both languages must know alike is written down in C++ alone.
void bind_constants(nb::module_& m) {
  m.attr("FOLDS") = names(FOLD_NAMES);
  m.attr("DISTANCES") = names(DISTANCE_NAMES);
  m.attr("LARGEST") = LARGEST;
  m.attr("LEAST_SLOPE") = LEAST_SLOPE;
  m.attr("GAIN_SLACK") = GAIN_SLACK;
  m.attr("FAR_FROM_ZERO") = FAR_FROM_ZERO;
  m.attr("MOST_WEIGHT") = MOST_WEIGHT;
  m.attr("MOST_THREADS") = MOST_THREADS;
  m.attr("INFINITE") = int(Problem::INFINITE);
  m.attr("NOTHING_OBSERVED") = int(Problem::NOTHING_OBSERVED);
  m.attr("TOO_LITTLE_WEIGHT") = int(Problem::TOO_LITTLE_WEIGHT);
  m.attr("TOO_MUCH_WEIGHT") = int(Problem::TOO_MUCH_WEIGHT);
  m.attr("instruction_set") = instruction_set();
}

}  // namespace

NB_MODULE(_kernels, m) {
  // A model that lives until Python ends is none.
  nb::set_leak_warnings(false);
  nb::class_<StepArrays>(m, "Steps")
      .def(nb::init<int, Vector, Vector, Matrix, Matrix, Integers>(), "fold"_a, "offset"_a,
           "unit"_a, "shift"_a, "factor"_a, "levels"_a)
      .def_prop_ro("n_iter", &StepArrays::n_iter);
  bind<double>(m);
  bind<float>(m);
  m.def("learn_each", &learn_from_each, "values"_a, "weights"_a, "fold"_a, "n_iter"_a, "max_gain"_a,
        "n_threads"_a, "shifts"_a.noconvert(), "scales"_a.noconvert(), "levels"_a.noconvert(),
        "gain"_a.noconvert());
  bind_creases(m);
  bind_ordering(m);
  bind_sketch(m);
  bind_svdd(m);
  bind_texts(m);
  bind_constants(m);
}
