// Algorithm 1, training: one column at a time, as many levels as its gain allows.
#include "learn.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "loops.hpp"
#include "threads.hpp"

namespace refold {
namespace {

// A column's observed values (not NaN, weight above zero) side by side, and what is known of them.
struct Column {
  std::vector<double> values, weights, gain;
  double low, high, total;
  int64_t size;
  const double* w() const { return weights.empty() ? nullptr : weights.data(); }
};

// One level of one feature, written into the chain.
struct Writer {
  Chain out;
  int64_t columns, column;
  void level(int j, double shift, double scale) const {
    out.shifts[j * columns + column] = shift;
    out.scales[j * columns + column] = scale;
  }
  void end(int levels, double gain) const {
    out.levels[column] = levels;
    out.gain[column] = gain;
  }
};

// Columns that are read together share the cache lines of a row-major table; their copies must not
// take more memory than this.
constexpr int64_t GROUP_BYTES = int64_t(32) << 20;
constexpr int64_t GROUP_COLUMNS = 8;
constexpr int64_t ROWS_AT_ONCE = 256;

template <class T>
void read_columns(const Table<T>& X, const double* weights, int64_t first, int64_t count,
                  std::vector<Column>& columns, Problem& problem) {
  for (int64_t c = 0; c < count; ++c) {
    Column& column = columns[c];
    column.values.resize(X.rows);
    column.weights.resize(weights ? X.rows : 0);
    column.low = std::numeric_limits<double>::infinity();
    column.high = -column.low;
    column.total = 0.0;
    column.size = 0;
  }
  for (int64_t begin = 0; begin < X.rows; begin += ROWS_AT_ONCE) {
    const int64_t end = std::min(begin + ROWS_AT_ONCE, X.rows);
    for (int64_t c = 0; c < count; ++c) {
      Column& column = columns[c];
      double *values = column.values.data(), low = column.low, high = column.high;
      int64_t size = column.size;
      for (int64_t i = begin; i < end; ++i) {
        const double x = *X.at(i, first + c);
        const double weight = weights ? weights[i] : 1.0;
        if (std::isinf(x)) problem.note(Problem::INFINITE, i, first + c);
        values[size] = x;
        if (weights) column.weights[size] = weight;
        const bool counts = x == x && weight > 0.0;
        size += counts;
        low = counts && x < low ? x : low;
        high = counts && x > high ? x : high;
        column.total += counts ? weight : 0.0;
      }
      column.size = size;
      column.low = low;
      column.high = high;
    }
  }
}

// abs in the feature's own units: m is the mean of |z|, s the std of z (FINDINGS: inner scales
// cancel). The chain stores Algorithm 1's mu = m/s and sigma = s_j/s_{j-1}; m and s are then taken
// back from those, so that scoring finds the very same bits.
void fold_abs(Column& c, const Recipe& recipe, double freedom, double s, Moments now,
              const Writer& write) {
  const Loops& l = loops();
  double* z = c.values.data();
  const double limit = s / recipe.max_gain, s1 = s;
  double pending = 0.0;  // the shift of the one level that z has not taken yet
  int level = 1;
  for (; level < recipe.n_iter; ++level) {
    const double mu = now.magnitude / c.total / s, m = mu * s;
    const bool odd = level % 2 == 1;
    const Moments next = odd ? l.fold_once(z, c.w(), c.size, m)
                             : l.fold_twice(z, c.w(), c.size, pending, m);
    const double sigma = std::sqrt(next.square / freedom) / s;
    if (!(s * sigma >= limit) || sigma == 0.0) break;
    write.level(level, mu, sigma);
    s *= sigma;
    pending = m;
    now = next;
  }
  write.end(level, s1 / s);
}

// The other folds are not homogeneous: each level standardizes. How far a row's rounding error has
// grown, the product of |fold'(y)|/sigma, is kept per row.
void fold_other(Column& c, const Recipe& recipe, double freedom, double mean, double scale,
                const Writer& write) {
  const Loops& l = loops();
  double* z = c.values.data();
  c.gain.assign(c.size, 1.0);
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
    if (!(gain <= recipe.max_gain) || scale == 0.0) break;
    write.level(level, mean, scale);
    kept = gain;
  }
  write.end(level, kept);
}

void learn_column(Column& c, const Recipe& recipe, const Writer& write, Problem& problem) {
  if (c.size == 0) return problem.note(Problem::NOTHING_OBSERVED, -1, write.column);
  if (c.low == c.high) {  // constant: any scale will do that makes another value a finite distance
    const double scale = c.low == 0.0 ? 1e-3 : std::max(1e-3 * std::fabs(c.low), 1e-300);
    write.level(0, c.low, scale);
    return write.end(1, 1.0);
  }
  const double freedom = c.total - 1.0;
  if (!(freedom > 0.0)) return problem.note(Problem::TOO_LITTLE_WEIGHT, -1, write.column);

  // Work in units of a power of two near the largest value: exact, and squares cannot overflow.
  int exponent;
  std::frexp(std::max(std::fabs(c.low), std::fabs(c.high)), &exponent);
  exponent = std::max(exponent, -1000);
  const double unit = std::ldexp(1.0, -exponent);
  double* z = c.values.data();
  for (int64_t i = 0; i < c.size; ++i) z[i] *= unit;

  const Loops& l = loops();
  const double mean = l.sum(z, c.w(), c.size) / c.total;
  if (recipe.fold == ABS) {
    const Moments now = l.centre(z, c.w(), c.size, mean);
    const double s = std::sqrt(now.square / freedom);
    write.level(0, std::ldexp(mean, exponent), std::ldexp(s, exponent));
    fold_abs(c, recipe, freedom, s, now, write);
  } else {
    c.gain.assign(c.size, 1.0);
    const double s = std::sqrt(l.spread(z, c.gain.data(), c.w(), c.size, mean).square / freedom);
    write.level(0, std::ldexp(mean, exponent), std::ldexp(s, exponent));
    fold_other(c, recipe, freedom, mean, s, write);
  }
}

// Columns per task: whole cache lines of a row-major table, in as many tasks as keep all threads
// busy to the end.
int64_t group_size(int64_t rows, int64_t columns, int n_threads) {
  const int64_t fits = GROUP_BYTES / (std::max<int64_t>(rows, 1) * int64_t(sizeof(double)));
  const int64_t most = std::clamp<int64_t>(fits, 1, GROUP_COLUMNS);
  const int64_t rounds = (columns + most * n_threads - 1) / (most * n_threads);
  return (columns + rounds * n_threads - 1) / (rounds * n_threads);
}

}  // namespace

template <class T>
Problem learn(const Table<T>& X, const double* weights, const Recipe& recipe, int n_threads,
              Chain out) {
  const int64_t group = group_size(X.rows, X.columns, n_threads);
  const int64_t tasks = (X.columns + group - 1) / group;
  std::atomic<int64_t> next{0};
  std::mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int) {
    std::vector<Column> columns(group);
    Problem mine;
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      const int64_t first = task * group, count = std::min(group, X.columns - first);
      read_columns(X, weights, first, count, columns, mine);
      for (int64_t c = 0; c < count && mine.kind == Problem::NONE; ++c)
        learn_column(columns[c], recipe, Writer{out, X.columns, first + c}, mine);
    }
    std::lock_guard<std::mutex> lock(guard);
    problem.note(mine);
  });
  return problem;
}

template Problem learn(const Table<float>&, const double*, const Recipe&, int, Chain);
template Problem learn(const Table<double>&, const double*, const Recipe&, int, Chain);

}  // namespace refold
