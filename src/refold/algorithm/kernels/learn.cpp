// Algorithm 1, training: one column at a time, as many levels as its gain allows.
#include "learn.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#include "loops.hpp"
#include "threads.hpp"

namespace refold {
namespace {

// Memory that is not cleared first, and kept from one column to the next. It begins at a cache line:
// a vector that lies across two of them takes twice as long to read or write.
class Buffer {
 public:
  double* data() { return memory_.get(); }
  void reserve(int64_t n) {
    if (n <= size_) return;
    memory_.reset(static_cast<double*>(operator new[](n * sizeof(double), LINE)));
    size_ = n;
  }

 private:
  static constexpr std::align_val_t LINE{64};
  struct Free {
    void operator()(double* p) const { operator delete[](p, LINE); }
  };
  std::unique_ptr<double[], Free> memory_;
  int64_t size_ = 0;
};

// A column's observed values (not NaN, weight above zero) side by side, with their weights.
struct Column {
  Buffer values, weights, gain;
  bool weighted;
  int64_t size;
  double low, high;  // smallest and largest value
  double total;      // of the weights
  const double* w() { return weighted ? weights.data() : nullptr; }
  void take(int64_t count) {  // values that have been put behind the others
    if (count == 0) return;
    const Range range = loops().range(values.data() + size, count);
    low = size == 0 ? range.low : std::min(low, range.low);
    high = size == 0 ? range.high : std::max(high, range.high);
    size += count;
  }
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

constexpr double SMALLEST_DOUBLE = std::numeric_limits<double>::denorm_min();
constexpr double LARGEST_DOUBLE = std::numeric_limits<double>::max();

// Appends rows begin … end of one column. Most have neither gaps nor weights: then copying is all.
template <class T>
void append(const Table<T>& X, const double* weights, int64_t index, int64_t begin, int64_t end,
            Column& column, Problem& problem) {
  double* to = column.values.data() + column.size;
  const T* from = X.at(begin, index);
  const int64_t rows = end - begin;
  for (int64_t i = 0; i < rows; ++i) to[i] = from[i * X.row_stride];
  if (!weights && loops().finite(to, rows)) return column.take(rows);
  double* weight_to = weights ? column.weights.data() + column.size : nullptr;
  int64_t size = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const double x = to[i];
    if (std::isinf(x)) problem.note(Problem::INFINITE, begin + i, index);
    if (x != x || (weights && !(weights[begin + i] > 0.0))) continue;
    if (weights) weight_to[size] = weights[begin + i];
    to[size++] = x;
  }
  column.take(size);
}

template <class T>
void read_columns(const Table<T>& X, const double* weights, int64_t first, int64_t count,
                  std::vector<Column>& columns, Problem& problem, Watch& watch) {
  for (int64_t c = 0; c < count; ++c) {
    columns[c].values.reserve(X.rows);
    columns[c].weighted = weights;
    if (weights) columns[c].weights.reserve(X.rows);
    columns[c].size = 0;
  }
  for (int64_t begin = 0; begin < X.rows; begin += ROWS_AT_ONCE) {
    const int64_t end = std::min(begin + ROWS_AT_ONCE, X.rows);
    for (int64_t c = 0; c < count; ++c)
      append(X, weights, first + c, begin, end, columns[c], problem);
    watch.did(count * (end - begin));
  }
}

// abs in the feature's own units: m is the mean of |z|, s the std of z (inner scales
// cancel). The chain stores Algorithm 1's mu = m/s and sigma = s_j/s_{j-1}; m and s are then taken
// back from those, so that scoring finds the very same bits.
void fold_abs(Column& c, const Recipe& recipe, double freedom, double s, Moments now,
              const Writer& write, Watch& watch) {
  const Loops& l = loops();
  double* a = c.values.data();
  const double s1 = s, limit = s / (recipe.max_gain * GAIN_SLACK);
  double before = 0.0;  // the shift of the level that a has not taken yet
  int level = 1;
  for (; level < recipe.n_iter; ++level) {
    const double mu = now.magnitude / c.total / s, m = mu * s;
    // Every other level only looks: a column that does not fit the cache is written half as often.
    const bool look = level % 2 == 1;
    const Moments next =
        look ? l.peek(a, c.w(), c.size, m) : l.centre_twice(a, c.w(), c.size, before, m);
    const double sigma = std::sqrt(next.square / freedom) / s;
    if (!(s * sigma >= limit) || sigma == 0.0) break;
    write.level(level, mu, sigma);
    s *= sigma;
    before = m;
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

void learn_column(Column& c, const Recipe& recipe, const Writer& write, Problem& problem,
                  Watch& watch) {
  if (c.size == 0) return problem.note(Problem::NOTHING_OBSERVED, -1, write.column);
  const Loops& l = loops();
  double* z = c.values.data();
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
    std::fill_n(c.gain.data(), c.size, 1.0);
    now = l.spread(z, c.gain.data(), c.w(), c.size, mean);
  }
  // From here on as the chain holds it: a number that is neither 0 nor infinite, even where what
  // differs weighs next to nothing or the standard deviation is less or more than any double.
  const double sigma = std::max(std::sqrt(now.square / freedom), 1.0 / LARGEST);
  const double scale =
      std::clamp(std::ldexp(sigma, exponent), SMALLEST_DOUBLE, LARGEST_DOUBLE);
  const double s = std::ldexp(scale, -exponent);
  write.level(0, shift, scale);
  if (recipe.fold == ABS) fold_abs(c, recipe, freedom, s, now, write, watch);
  else fold_other(c, recipe, freedom, mean, s, write, watch);
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
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int, Watch& watch) {
    std::vector<Column> columns(group);
    Problem mine;
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      const int64_t first = task * group, count = std::min(group, X.columns - first);
      read_columns(X, weights, first, count, columns, mine, watch);
      for (int64_t c = 0; c < count && mine.kind == Problem::NONE; ++c)
        learn_column(columns[c], recipe, Writer{out, X.columns, first + c}, mine, watch);
    }
    std::lock_guard<std::mutex> lock(guard);
    problem.note(mine);
  });
  return problem;
}

Problem learn_each(const std::vector<WeightedColumn>& columns, const Recipe& recipe, int n_threads,
                   Chain out) {
  const int64_t count = int64_t(columns.size());
  std::atomic<int64_t> next{0};
  std::mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, count)), [&](int, Watch& watch) {
    Column column;
    column.weighted = true;
    Problem mine;
    for (int64_t c; (c = next.fetch_add(1)) < count;) {
      const auto [values, weights, size] = columns[c];
      column.values.reserve(size);
      column.weights.reserve(size);
      std::copy_n(values, size, column.values.data());
      std::copy_n(weights, size, column.weights.data());
      column.size = 0;
      column.take(size);
      learn_column(column, recipe, Writer{out, count, c}, mine, watch);
    }
    std::lock_guard<std::mutex> lock(guard);
    problem.note(mine);
  });
  return problem;
}

template Problem learn(const Table<float>&, const double*, const Recipe&, int, Chain);
template Problem learn(const Table<double>&, const double*, const Recipe&, int, Chain);

}  // namespace refold
