// The Python face of the SVDD solver.
#include "svdd_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "svdd.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace refold;

namespace {

using Kernel = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using VectorOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::tuple<int64_t, double> svdd(Kernel kernel, Vector diagonal, double box, double tol,
                                 int64_t max_steps, VectorOut weights, VectorOut gradient) {
  const size_t n = kernel.shape(0);
  if (kernel.shape(1) != n || diagonal.shape(0) != n || weights.shape(0) != n ||
      gradient.shape(0) != n)
    throw nb::value_error("the arrays of an SVDD problem do not fit together");
  const SvddProblem problem{int64_t(n), kernel.data(), diagonal.data(), box};
  nb::gil_scoped_release release;
  const SvddEffort effort = solve_svdd(problem, tol, max_steps, weights.data(), gradient.data());
  return {effort.steps, effort.violation};
}

}  // namespace

void bind_svdd(nb::module_& m) {
  m.def("svdd", &svdd, "kernel"_a.noconvert(), "diagonal"_a.noconvert(), "box"_a, "tol"_a,
        "max_steps"_a, "weights"_a.noconvert(), "gradient"_a.noconvert());
}
