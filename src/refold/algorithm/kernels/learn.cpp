// Algorithm 1, training: tables, a group of columns at a time.
#include "learn.hpp"

#include <atomic>
#include <cmath>
#include <vector>

#include "column.hpp"
#include "tile.hpp"

namespace refold {
namespace {

// Columns that are read together share the cache lines of a row-major table; their copies must not
// take more memory than this.
constexpr int64_t GROUP_BYTES = int64_t(32) << 20;
constexpr int64_t GROUP_COLUMNS = 8;

// Appends rows begin, begin + 1, … of one column. Most have neither gaps nor weights: then copying is
// all.
void append(const double* x, int64_t rows, const double* weights, int64_t begin, int64_t index,
            Column& column, Problem& problem) {
  double* to = column.values.data() + column.size;
  if (!weights && loops().finite(x, rows)) {
    std::copy_n(x, rows, to);
    return column.take(rows);
  }
  double* weight_to = weights ? column.weights.data() + column.size : nullptr;
  int64_t size = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (std::isinf(x[i])) problem.note(Problem::INFINITE, begin + i, index);
    if (x[i] != x[i] || (weights && !(weights[begin + i] > 0.0))) continue;
    if (weights) weight_to[size] = weights[begin + i];
    to[size++] = x[i];
  }
  column.take(size);
}

// Columns that are read together, in memory that those after them use again.
template <class T>
class Group {
 public:
  Group(const Table<T>& X, const double* weights, int64_t most)
      : X_(X),
        weights_(weights),
        tile_(most),
        columns_(most),
        memory_(most * Buffer::needed(X.rows) * (weights ? 2 : 1)) {
    double* free = memory_.data();
    const auto lend = [&](Buffer& buffer) {
      buffer.lend(free, X.rows);
      free += Buffer::needed(X.rows);
    };
    for (Column& column : columns_) {
      column.weighted = weights;
      lend(column.values);
      if (weights) lend(column.weights);
    }
  }

  Column& operator[](int c) { return columns_[c]; }

  void read(int64_t first, int count, Problem& problem, Watch& watch) {
    for (Column& column : columns_) column.size = 0;
    const auto take = [&](int c, const double* x, int64_t begin, int64_t rows) {
      append(x, rows, weights_, begin, first + c, columns_[c], problem);
    };
    each_tile(X_, first, count, tile_, watch, take);
  }

 private:
  const Table<T>& X_;
  const double* weights_;
  Tile tile_;
  std::vector<Column> columns_;
  Doubles memory_;
};

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
  Mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int, Watch& watch) {
    Group<T> columns(X, weights, group);
    Problem mine;
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      const int64_t first = task * group;
      const int count = int(std::min(group, X.columns - first));
      columns.read(first, count, mine, watch);
      for (int c = 0; c < count && mine.kind == Problem::NONE; ++c)
        learn_column(columns[c], recipe, Writer{out, X.columns, first + c}, mine, watch);
    }
    const Lock lock(guard);
    problem.note(mine);
  });
  return problem;
}

Problem learn_each(const std::vector<WeightedColumn>& columns, const Recipe& recipe, int n_threads,
                   Chain out) {
  const int64_t count = int64_t(columns.size());
  std::atomic<int64_t> next{0};
  Mutex guard;
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
    const Lock lock(guard);
    problem.note(mine);
  });
  return problem;
}

template Problem learn(const Table<float>&, const double*, const Recipe&, int, Chain);
template Problem learn(const Table<double>&, const double*, const Recipe&, int, Chain);

}  // namespace refold
