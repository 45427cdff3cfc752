// Algorithm 1, testing: a block of rows at a time, through all levels of one feature after another.
#include "score.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "threads.hpp"

namespace refold {
namespace {

// A block of rows of one feature; missing values are replaced by 0 and marked.
struct Block {
  Watch& watch;
  int64_t work;  // that a feature of a block is, for the watch
  alignas(64) double x[BLOCK] = {};
  alignas(64) double mask[BLOCK];
  double gaps[BLOCK];  // features missing so far, per row
  int64_t first_row;
  int rows;
  bool missing;

  Block(Watch& watch, int n_iter) : watch(watch), work(int64_t(BLOCK) * n_iter) {}

  void begin(int64_t row, int64_t total) {
    first_row = row;
    rows = int(std::min<int64_t>(BLOCK, total - row));
    start_over();
  }
  void start_over() { std::fill(gaps, gaps + BLOCK, 0.0); }

  const double* observed() const { return missing ? mask : nullptr; }

  template <class T>
  void read(const Table<T>& X, int64_t column, Problem& problem) {
    watch.did(work);
    const T* p = X.at(first_row, column);
    for (int r = 0; r < rows; ++r) x[r] = p[r * X.row_stride];
    constexpr int64_t per_line = 64 / sizeof(T);
    if (X.column_stride == 1 && column % per_line == 0) {  // rows of the next block, meanwhile
      const int64_t end = std::min<int64_t>(2 * BLOCK, X.rows - first_row);
      for (int64_t r = BLOCK; r < end; ++r) __builtin_prefetch(p + r * X.row_stride);
    }
    missing = !loops().finite(x, rows);
    if (missing) mark(column, problem);
  }

  void mark(int64_t column, Problem& problem) {
    for (int r = 0; r < rows; ++r) {
      const bool here = x[r] == x[r];
      if (std::isinf(x[r])) problem.note(Problem::INFINITE, first_row + r, column);
      if (!here || std::isinf(x[r])) x[r] = 0.0;
      mask[r] = here ? 1.0 : 0.0;
      gaps[r] += here ? 0.0 : 1.0;
    }
    std::fill(mask + rows, mask + BLOCK, 0.0);
  }

  // How many features each row has; none is a problem.
  double count(int r, int64_t columns, Problem& problem) const {
    const double observed = double(columns) - gaps[r];
    if (observed == 0.0) problem.note(Problem::NOTHING_OBSERVED, first_row + r, -1);
    return observed;
  }
};

// Runs work(block, problem) on every block of rows, a contiguous share of them per thread.
template <class Work>
Problem for_each_block(int64_t rows, int n_iter, int n_threads, Work work) {
  const int64_t blocks = (rows + BLOCK - 1) / BLOCK;
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, blocks)));
  std::vector<Problem> problems(n_threads);
  on_threads(n_threads, [&](int t, Watch& watch) {
    Problem mine;
    auto run = work();  // a worker with buffers of its own
    Block block(watch, n_iter);
    for (int64_t b = blocks * t / n_threads; b < blocks * (t + 1) / n_threads; ++b) {
      block.begin(b * BLOCK, rows);
      run(block, mine);
    }
    problems[t] = mine;
  });
  Problem problem;
  for (const Problem& p : problems) problem.note(p);
  return problem;
}

// Every level's sum of magnitudes (or squares) over the features, [n_iter][BLOCK].
template <class T>
void trace_block(const Table<T>& X, const Steps& s, Distance distance, Block& block, double* sums,
                 Problem& problem) {
  std::fill(sums, sums + int64_t(s.n_iter) * BLOCK, 0.0);
  const Sink sink = distance == Distance::L1 ? ADD_MAGNITUDE : ADD_SQUARE;
  for (int64_t d = 0; d < X.columns; ++d) {
    block.read(X, d, problem);
    loops().trace[s.fold](s.feature(d), block.x, block.observed(), s.n_iter, sink, sums);
  }
}

// The path score of L2: the mean of every level's norm, from the sums of squares of trace_block.
void mean_norm(const double* sums, int n_iter, const Block& block, int64_t columns, double* out,
               Problem& problem) {
  for (int r = 0; r < block.rows; ++r) {
    double sum = 0.0;
    for (int j = 0; j < n_iter; ++j) sum += std::sqrt(sums[j * BLOCK + r]);
    out[r] = sum / n_iter / block.count(r, columns, problem);
  }
}

}  // namespace

template <class T>
Problem trace(const Table<T>& X, const Steps& s, Distance distance, int n_threads, double* out) {
  return for_each_block(X.rows, s.n_iter, n_threads, [&] {
    return [&, sums = std::vector<double>(int64_t(s.n_iter) * BLOCK)](Block& block,
                                                                      Problem& problem) mutable {
      trace_block(X, s, distance, block, sums.data(), problem);
      for (int r = 0; r < block.rows; ++r) {
        const double count = block.count(r, X.columns, problem);
        for (int j = 0; j < s.n_iter; ++j)
          out[(block.first_row + r) * s.n_iter + j] =
              to_distance(distance, sums[j * BLOCK + r], count);
      }
    };
  });
}

template <class T>
Problem distances(const Table<T>& X, const Steps& s, Distance distance, bool path, int n_threads,
                  double* out) {
  const bool norms_of_levels = path && distance == Distance::L2;  // their mean is not additive
  return for_each_block(X.rows, s.n_iter, n_threads, [&] {
    return [&, sums = std::vector<double>(norms_of_levels ? int64_t(s.n_iter) * BLOCK : BLOCK)](
               Block& block, Problem& problem) mutable {
      double* result = out + block.first_row;
      if (norms_of_levels) {
        trace_block(X, s, distance, block, sums.data(), problem);
        return mean_norm(sums.data(), s.n_iter, block, X.columns, result, problem);
      }
      std::fill(sums.begin(), sums.end(), 0.0);
      const Sink sink = distance == Distance::L1 ? ADD_MAGNITUDE : ADD_SQUARE;
      for (int64_t d = 0; d < X.columns; ++d) {
        block.read(X, d, problem);
        const Feature f = s.feature(d);
        if (path) loops().path[s.fold](f, block.x, block.observed(), s.n_iter, sink, sums.data());
        else loops().last[s.fold](f, block.x, block.observed(), sink, sums.data());
      }
      for (int r = 0; r < block.rows; ++r)
        result[r] = to_distance(distance, sums[r], block.count(r, X.columns, problem));
    };
  });
}

template <class T>
Problem transform(const Table<T>& X, const Steps& s, int n_threads, double* out) {
  return for_each_block(X.rows, s.n_iter, n_threads, [&] {
    return [&](Block& block, Problem& problem) {
      alignas(64) double y[BLOCK];
      for (int64_t d = 0; d < X.columns; ++d) {
        block.read(X, d, problem);
        loops().last[s.fold](s.feature(d), block.x, nullptr, STORE, y);
        for (int r = 0; r < block.rows; ++r)
          out[(block.first_row + r) * X.columns + d] =
              block.missing && block.mask[r] == 0.0 ? std::numeric_limits<double>::quiet_NaN()
                                                    : y[r];
      }
    };
  });
}

template <class T>
Problem contributions(const Table<T>& X, const Steps& s, Distance distance, bool path,
                      int n_threads, double* distances, double* out) {
  const bool l2 = distance == Distance::L2;
  return for_each_block(X.rows, s.n_iter, n_threads, [&] {
    return [&, weight = std::vector<double>(path && l2 ? int64_t(s.n_iter) * BLOCK : 0)](
               Block& block, Problem& problem) mutable {
      alignas(64) double y[BLOCK], squares[BLOCK] = {};
      if (path && l2) {  // a level's share y^2/|y| needs the level's norm first
        trace_block(X, s, distance, block, weight.data(), problem);
        mean_norm(weight.data(), s.n_iter, block, X.columns, distances + block.first_row, problem);
        for (double& w : weight) w = w > 0.0 ? 1.0 / (std::sqrt(w) * s.n_iter) : 0.0;
        block.start_over();
      }
      double* lines = out + block.first_row * X.columns;
      for (int64_t d = 0; d < X.columns; ++d) {
        block.read(X, d, problem);
        const Feature f = s.feature(d);
        const double* observed = block.observed();
        if (path && l2)
          loops().path_squares[s.fold](f, block.x, observed, s.n_iter, weight.data(), y);
        else if (path) loops().path[s.fold](f, block.x, observed, s.n_iter, STORE, y);
        else loops().last[s.fold](f, block.x, observed, STORE, y);
        for (int r = 0; r < block.rows; ++r) {
          const double share = l2 && !path ? y[r] * y[r] : std::fabs(y[r]);
          lines[r * X.columns + d] = share;
          squares[r] += share;
        }
      }
      for (int r = 0; r < block.rows; ++r) {
        const double norm = l2 && !path ? std::sqrt(squares[r]) : 1.0;
        const double count = block.count(r, X.columns, problem);
        // Added up in the order of distances(), to the same bits.
        if (!(path && l2))
          distances[block.first_row + r] = to_distance(distance, squares[r], count);
        const double scale = norm > 0.0 ? 1.0 / (norm * count) : 0.0;
        for (int64_t d = 0; d < X.columns; ++d) lines[r * X.columns + d] *= scale;
      }
    };
  });
}

#define INSTANTIATE(T)                                                                        \
  template Problem trace(const Table<T>&, const Steps&, Distance, int, double*);              \
  template Problem distances(const Table<T>&, const Steps&, Distance, bool, int, double*);    \
  template Problem transform(const Table<T>&, const Steps&, int, double*);                    \
  template Problem contributions(const Table<T>&, const Steps&, Distance, bool, int, double*, \
                                 double*);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace refold
