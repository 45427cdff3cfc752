#include "svdd.hpp"

#include <algorithm>
#include <limits>

#include "threads.hpp"

namespace refold {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();
constexpr double FLAT = 1e-12;  // the curvature along a direction in which the kernel has none

struct Solver {
  const SvddProblem& p;
  double *a, *G;
  Watch& watch;

  const float* row(int64_t i) const { return p.kernel + i * p.size; }

  // Fills the first rows up to the box; what rounding leaves of 1 stays with the next row.
  void start() const {
    for (int64_t i = 0; i < p.size; ++i) G[i] = -0.5 * p.diagonal[i];
    double rest = 1.0;
    for (int64_t i = 0; i < p.size; ++i) {
      a[i] = std::min(p.box, rest);
      rest -= a[i];
      if (a[i] > 0.0) {
        for (int64_t t = 0; t < p.size; ++t) G[t] += a[i] * row(i)[t];
        watch.did(p.size);
      }
    }
  }

  // The row whose weight most wants to grow; of equal ones the last.
  int64_t grower() const {
    int64_t best = -1;
    double least = INFINITE;
    for (int64_t t = 0; t < p.size; ++t)
      if (G[t] <= least && a[t] < p.box) {
        least = G[t];
        best = t;
      }
    return best;
  }

  double curvature(int64_t i, int64_t j) const {
    const double q = p.diagonal[i] + p.diagonal[j] - 2.0 * row(i)[j];
    return q > 0.0 ? q : FLAT;
  }

  // The row that gives weight to i with the largest gain (second order), of equal ones the last;
  // -1 if there is none. `most` becomes the largest gradient of a row that has weight to give.
  int64_t giver(int64_t i, double& most) const {
    int64_t best = -1;
    double least = INFINITE;
    most = -INFINITE;
    for (int64_t t = 0; t < p.size; ++t) {
      if (!(a[t] > 0.0)) continue;
      most = std::max(most, G[t]);
      const double difference = G[t] - G[i];
      if (!(difference > 0.0)) continue;
      const double gain = -(difference * difference) / curvature(i, t);
      if (gain <= least) {
        least = gain;
        best = t;
      }
    }
    return best;
  }

  // Moves weight from j to i, to the minimum along that line or to the box.
  void exchange(int64_t i, int64_t j) const {
    const double step = (G[i] - G[j]) / curvature(i, j);
    const double sum = a[i] + a[j], before_i = a[i], before_j = a[j];
    a[i] -= step;
    a[j] += step;
    if (sum > p.box && a[i] > p.box) {
      a[i] = p.box;
      a[j] = sum - p.box;
    } else if (sum <= p.box && a[j] < 0.0) {
      a[j] = 0.0;
      a[i] = sum;
    }
    const double change_i = a[i] - before_i, change_j = a[j] - before_j;
    const float *row_i = row(i), *row_j = row(j);
    for (int64_t t = 0; t < p.size; ++t) G[t] += row_i[t] * change_i + row_j[t] * change_j;
  }
};

SvddEffort solve(const Solver& solver, double tol, int64_t max_steps) {
  solver.start();
  for (SvddEffort effort{0, INFINITE};; ++effort.steps) {
    const int64_t i = solver.grower();
    if (i < 0) return {effort.steps, 0.0};  // every weight is at the box
    double most;
    const int64_t j = solver.giver(i, most);
    effort.violation = std::max(most - solver.G[i], 0.0);
    if (effort.violation < tol || j < 0 || effort.steps == max_steps) return effort;
    solver.exchange(i, j);
    solver.watch.did(solver.p.size);
  }
}

}  // namespace

SvddEffort solve_svdd(const SvddProblem& p, double tol, int64_t max_steps, double* a, double* G) {
  SvddEffort effort;
  on_threads(1, [&](int, Watch& watch) { effort = solve({p, a, G, watch}, tol, max_steps); });
  return effort;
}

}  // namespace refold
