#include "column.hpp"

#include <cmath>
#include <limits>

namespace refold {
namespace {

constexpr double SMALLEST_DOUBLE = std::numeric_limits<double>::denorm_min();
constexpr double LARGEST_DOUBLE = std::numeric_limits<double>::max();

// abs in the feature's own units: m is the mean of |z|, s the std of z (inner scales
// cancel). The chain stores Algorithm 1's mu = m/s and sigma = s_j/s_{j-1}; m and s are then taken
// back from those, so that scoring finds the very same bits.
void fold_abs(Column& c, const Recipe& recipe, double freedom, double s, Moments now,
              const Writer& write, Watch& watch) {
  const Loops& l = loops();
  double* a = c.values.data();
  const double s1 = s, limit = s / (recipe.max_gain * GAIN_SLACK);
  int level = 1;
  for (; level < recipe.n_iter; ++level) {
    const double mu = now.magnitude / c.total / s, m = mu * s;
    const Moments next = l.centre_again(a, c.w(), c.size, m);
    const double sigma = std::sqrt(next.square / freedom) / s;
    if (!(s * sigma >= limit) || sigma == 0.0) break;
    write.level(level, mu, sigma);
    s *= sigma;
    now = next;
    watch.did(c.size);
  }
  write.end(level, std::min(s1 / s, recipe.max_gain));
}

// The other folds are not homogeneous: each level standardizes. How far a row's rounding error has
// grown, the product of |fold'(y)|/sigma, is kept per row.
void fold_other(Column& c, const Recipe& recipe, double freedom, double mean, double scale,
                const Writer& write, Watch& watch) {
  const Loops& l = loops();
  double* z = c.values.data();
  double kept = 1.0, gain_inv = 1.0;
  int level = 1;
  for (; level < recipe.n_iter; ++level) {
    const double sum =
        l.fold[recipe.fold](z, c.gain.data(), c.w(), c.size, mean, 1.0 / scale, gain_inv);
    mean = sum / c.total;
    const Moments now = l.spread(z, c.gain.data(), c.w(), c.size, mean);
    scale = std::sqrt(now.square / freedom);
    gain_inv = 1.0 / scale;
    const double gain = now.magnitude * gain_inv;
    if (!(gain <= recipe.max_gain * GAIN_SLACK) || !(scale > 0.0 && scale <= LARGEST_DOUBLE)) break;
    write.level(level, mean, scale);
    kept = gain;
    watch.did(c.size);
  }
  write.end(level, std::min(kept, recipe.max_gain));
}

double mean_of(Column& c, double unit) {
  const auto sum = [&](double origin) {
    return loops().sum(c.values.data(), c.w(), c.size, unit, origin);
  };
  const Moments moments = sum(0.0);
  const double mean = moments.magnitude / c.total, square = mean * mean;
  const bool far = moments.square / c.total - square < FAR_FROM_ZERO * square;
  return far ? mean + sum(mean).magnitude / c.total : mean;
}

}  // namespace

void learn_column(Column& c, const Recipe& recipe, const Writer& write, Problem& problem,
                  Watch& watch) {
  if (c.size == 0) return problem.note(Problem::NOTHING_OBSERVED, -1, write.column);
  const Loops& l = loops();
  double* z = c.values.data();
  c.values.pad(c.size);
  if (c.weighted) c.weights.pad(c.size);
  if (c.low == c.high) {  // constant: any scale makes another value a finite distance
    const double scale = c.low == 0.0 ? 1e-3 : std::max(1e-3 * std::fabs(c.low), 1e-300);
    write.level(0, c.low, scale);
    return write.end(1, 1.0);
  }
  c.total = c.weighted ? l.sum(c.w(), nullptr, c.size, 1.0, 0.0).magnitude : double(c.size);
  const double freedom = c.total - 1.0;
  if (!(freedom > 0.0)) return problem.note(Problem::TOO_LITTLE_WEIGHT, -1, write.column);
  if (!(c.total <= MOST_WEIGHT)) return problem.note(Problem::TOO_MUCH_WEIGHT, -1, write.column);

  // Work in units of a power of two near the largest value: exact, and squares cannot overflow.
  int exponent;
  std::frexp(std::max(std::fabs(c.low), std::fabs(c.high)), &exponent);
  exponent = std::max(exponent, -1000);
  const double unit = std::ldexp(1.0, -exponent), shift = std::ldexp(mean_of(c, unit), exponent);
  const double mean = shift * unit;
  Moments now;
  if (recipe.fold == ABS) {
    now = l.centre(z, c.w(), c.size, unit, mean);
  } else {
    for (int64_t i = 0; i < c.size; ++i) z[i] *= unit;
    c.gain.reserve(c.size);
    std::fill_n(c.gain.data(), c.size + PADDING, 1.0);
    now = l.spread(z, c.gain.data(), c.w(), c.size, mean);
  }
  // From here on as the chain holds it: a number that is neither 0 nor infinite, even where what
  // differs weighs next to nothing or the standard deviation is less or more than any double.
  const double sigma = std::max(std::sqrt(now.square / freedom), 1.0 / LARGEST);
  const double scale = std::clamp(std::ldexp(sigma, exponent), SMALLEST_DOUBLE, LARGEST_DOUBLE);
  const double s = std::ldexp(scale, -exponent);
  write.level(0, shift, scale);
  if (recipe.fold == ABS) fold_abs(c, recipe, freedom, s, now, write, watch);
  else fold_other(c, recipe, freedom, mean, s, write, watch);
}

}  // namespace refold
