// What a call from Python may bring: types of arrays, and the checks that every entry makes before it
// trusts them.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "table.hpp"
#include "threads.hpp"

namespace refold {

namespace nb = nanobind;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using MatrixOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntegersOut = nb::ndarray<int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Found = std::tuple<int, int64_t, int64_t>;  // Problem: kind, row, column

inline void expect(bool fits, const char* otherwise) {
  if (!fits) throw nb::value_error(otherwise);
}

inline void expect_between(int64_t value, int64_t least, int64_t most, const char* name) {
  if (value < least || value > most)
    throw nb::value_error((std::string(name) + " must lie between " + std::to_string(least) +
                           " and " + std::to_string(most) + ", not be " + std::to_string(value))
                              .c_str());
}

inline void expect_threads(int n_threads) {
  expect_between(n_threads, 1, MOST_THREADS, "n_threads");
}

// An array's memory; nanobind has checked everything but where it begins.
template <class Array>
auto* data(const Array& array) {
  auto* begin = array.data();
  const bool aligned = uintptr_t(begin) % alignof(decltype(*begin)) == 0;
  expect(aligned || array.size() == 0, "an array is not aligned in memory");
  return begin;
}

template <class T>
Table<T> table(const Input<T>& X) {
  expect(X.shape(1) > 0, "X must have at least one column");
  return {data(X), int64_t(X.shape(0)), int64_t(X.shape(1)), X.stride(0), X.stride(1)};
}

template <class T>
const double* row_weights(const std::optional<Vector>& weights, const Input<T>& X) {
  expect(!weights || weights->shape(0) == X.shape(0), "there must be a weight for each row");
  return weights ? data(*weights) : nullptr;
}

inline Found found(const Problem& p) { return {p.kind, p.row, p.column}; }

}  // namespace refold
