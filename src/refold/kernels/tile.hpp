// A table that is read once, a group of columns at a time.
#pragma once
#include <atomic>
#include <mutex>
#include <type_traits>

#include "loops.hpp"
#include "table.hpp"
#include "threads.hpp"

namespace refold {

// Columns that are read together share the cache lines of a row-major table; a tile of them and what
// is counted of each fit the second-level cache.
constexpr int GROUP = 16;

// Some rows of a group of columns, each column side by side.
struct Tile {
  static constexpr int ROWS = 1024;
  double x[GROUP][ROWS];

  template <class T>
  void read(const Table<T>& X, int64_t first, int count, int64_t begin, int rows) {
    if constexpr (std::is_same_v<T, double>)
      if (X.column_stride == 1)
        return loops().transpose(X.at(begin, first), X.row_stride, rows, count, x[0], ROWS);
    for (int c = 0; c < count; ++c) {
      const T* from = X.at(begin, first + c);
      for (int i = 0; i < rows; ++i) x[c][i] = from[i * X.row_stride];
    }
  }
};

// Calls visit(column in the group, values, row of the first, number of rows) until all rows were
// visited; what lies side by side already is not copied.
template <class T, class Visit>
void each_tile(const Table<T>& X, int64_t first, int count, Tile& tile, Visit visit) {
  if constexpr (std::is_same_v<T, double>)
    if (X.row_stride == 1) {
      for (int c = 0; c < count; ++c) visit(c, X.at(0, first + c), 0, X.rows);
      return;
    }
  for (int64_t begin = 0; begin < X.rows; begin += Tile::ROWS) {
    const int rows = int(std::min<int64_t>(Tile::ROWS, X.rows - begin));
    tile.read(X, first, count, begin, rows);
    for (int c = 0; c < count; ++c) visit(c, tile.x[c], begin, rows);
  }
}

// Hands out groups of columns to threads.
struct Groups {
  int64_t columns, width;
  std::atomic<int64_t> taken{0};
  int64_t next() { return taken.fetch_add(width); }
  int count(int64_t first) const { return int(std::min(width, columns - first)); }
};

// Runs work(groups, problem) on threads; the first problem of all is returned.
template <class T, class Work>
Problem in_groups(const Table<T>& X, int n_threads, Work work) {
  const int64_t fair = (X.columns + n_threads - 1) / n_threads;  // no thread may be left without work
  Groups groups{X.columns, X.row_stride == 1 ? 1 : std::min<int64_t>(GROUP, fair)};
  const int64_t tasks = (X.columns + groups.width - 1) / groups.width;
  std::mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int) {
    Problem mine;
    work(groups, mine);
    std::lock_guard<std::mutex> lock(guard);
    problem.note(mine);
  });
  return problem;
}

}  // namespace refold
