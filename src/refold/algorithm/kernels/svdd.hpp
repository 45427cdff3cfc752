// Support vector data description: the dual problem, solved two coordinates at a time.
#pragma once
#include <cstdint>

namespace refold {

// minimise 1/2 a'Ka - 1/2 diag(K)'a subject to sum(a) = 1, 0 <= a <= box.
struct SvddProblem {
  int64_t size;
  const float* kernel;     // K in single precision, (size, size), row-major
  const double* diagonal;  // diag(K) in double precision, for the objective and for curvatures
  double box;
};

struct SvddEffort {
  int64_t steps;
  double violation;  // of the optimality conditions, where it stopped
};

// Writes a and the gradient G = Ka - 1/2 diag(K) there; stops at a violation below tol.
SvddEffort solve_svdd(const SvddProblem&, double tol, int64_t max_steps, double* a, double* G);

}  // namespace refold
