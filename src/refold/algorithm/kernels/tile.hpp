// A table that is read once, a group of columns at a time.
#pragma once
#include <atomic>
#include <type_traits>

#include "buffer.hpp"
#include "loops.hpp"
#include "table.hpp"
#include "threads.hpp"

namespace refold {

// Columns that are read together: memory is fast where it is read in order, so as many as a row has,
// up to this.
constexpr int64_t COLUMNS_AT_ONCE = 128;

// Some rows of a group of columns, each column side by side. They are few enough for a cache, and so
// many that what a visit of a column needs is fetched for many rows.
class Tile {
 public:
  static constexpr int64_t ROWS = 2048;

  explicit Tile(int64_t columns) : memory_(columns * GAP), rows_(columns * ROWS_IN_ORDER) {}
  const double* column(int c) { return memory_.data() + c * GAP; }

  template <class T>
  void read(const Table<T>& X, int64_t first, int count, int64_t begin, int rows) {
    if constexpr (std::is_same_v<T, double>)
      if (X.column_stride == 1) return transpose(X, first, count, begin, rows);
    for (int c = 0; c < count; ++c) {
      const T* from = X.at(begin, first + c);
      double* to = memory_.data() + c * GAP;
      for (int i = 0; i < rows; ++i) to[i] = from[i * X.row_stride];
    }
  }

 private:
  static constexpr int64_t GAP = ROWS + 8;  // columns begin in different sets of a cache
  static constexpr int64_t ROWS_IN_ORDER = 256;

  // Transposing reads four rows at a time, which memory is slow at: they are copied first.
  void transpose(const Table<double>& X, int64_t first, int count, int64_t begin, int rows) {
    for (int64_t i = 0; i < rows; i += ROWS_IN_ORDER) {
      const int some = int(std::min<int64_t>(ROWS_IN_ORDER, rows - i));
      for (int r = 0; r < some; ++r)
        std::copy_n(X.at(begin + i + r, first), count, rows_.data() + r * count);
      loops().transpose(rows_.data(), count, some, count, memory_.data() + i, GAP);
    }
  }

  Doubles memory_, rows_;
};

// Calls visit(column in the group, values, row of the first, number of rows) until all rows were
// visited; what lies side by side already is not copied.
template <class T, class Visit>
void each_tile(const Table<T>& X, int64_t first, int count, Tile& tile, Watch& watch, Visit visit) {
  const bool in_place = std::is_same_v<T, double> && X.row_stride == 1;
  const int64_t most = in_place ? 64 * Tile::ROWS : Tile::ROWS;
  for (int64_t begin = 0; begin < X.rows; begin += most) {
    const int rows = int(std::min(most, X.rows - begin));
    if (!in_place) tile.read(X, first, count, begin, rows);
    for (int c = 0; c < count; ++c) {
      if constexpr (std::is_same_v<T, double>)
        visit(c, in_place ? X.at(begin, first + c) : tile.column(c), begin, rows);
      else visit(c, tile.column(c), begin, rows);
    }
    watch.did(int64_t(count) * rows);
  }
}

// Hands out groups of columns to threads.
struct Groups {
  int64_t columns, width;
  std::atomic<int64_t> taken{0};
  int64_t next() { return taken.fetch_add(width); }
  int count(int64_t first) const { return int(std::min(width, columns - first)); }
};

// Runs work(groups, problem, watch) on threads, with groups of at most so many columns; returns the first
// problem of all.
template <class T, class Work>
Problem in_groups(const Table<T>& X, int64_t most, int n_threads, Work work) {
  const int64_t fair =
      (X.columns + n_threads - 1) / n_threads;  // no thread may be left without work
  Groups groups{X.columns, X.row_stride == 1 ? 1 : std::min(most, fair)};
  const int64_t tasks = (X.columns + groups.width - 1) / groups.width;
  Mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int, Watch& watch) {
    Problem mine;
    work(groups, mine, watch);
    const Lock lock(guard);
    problem.note(mine);
  });
  return problem;
}

}  // namespace refold
