// The Python face of the SVDD solver.
#include "svdd_module.hpp"

#include "arguments.hpp"
#include "svdd.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

using Kernel = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::tuple<int64_t, double> svdd(Kernel kernel, Vector diagonal, double box, double tol,
                                 int64_t max_steps, VectorOut weights, VectorOut gradient) {
  const size_t n = kernel.shape(0);
  expect(n > 0 && kernel.shape(1) == n && diagonal.shape(0) == n && weights.shape(0) == n &&
             gradient.shape(0) == n,
         "the arrays of an SVDD problem do not fit together");
  expect(box > 0.0 && tol >= 0.0 && max_steps >= 0, "box, tol and max_steps must not be negative");
  const SvddProblem problem{int64_t(n), data(kernel), data(diagonal), box};
  double *a = data(weights), *G = data(gradient);
  nb::gil_scoped_release release;
  const SvddEffort effort = solve_svdd(problem, tol, max_steps, a, G);
  return {effort.steps, effort.violation};
}

}  // namespace

void bind_svdd(nb::module_& m) {
  m.def("svdd", &svdd, "kernel"_a.noconvert(), "diagonal"_a.noconvert(), "box"_a, "tol"_a,
        "max_steps"_a, "weights"_a.noconvert(), "gradient"_a.noconvert());
}
