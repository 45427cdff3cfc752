// One pass over a table: per feature a histogram that grows with its range.
#include "sketch.hpp"

#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <vector>

#include "loops.hpp"
#include "threads.hpp"

namespace refold {
namespace {

// Rows that are read, measured and counted before the next ones: they stay in the first-level cache.
constexpr int TILE = 512;
// Positions x / 2^exponent stay below 2^50, where their fraction still has bits.
constexpr int64_t POSITION_BITS = 50;
constexpr int64_t SMALLEST_EXPONENT = -1000;  // its reciprocal is still a finite number

double scaled(double x, int64_t exponent) { return std::ldexp(x, int(-exponent)); }
// A negative value so small that it becomes 0 in these units is still left of 0.
int64_t bin_of(double x, int64_t exponent) {
  const double place = scaled(x, exponent);
  return place == 0.0 && x < 0.0 ? -1 : int64_t(std::floor(place));
}

int64_t shifted(int64_t bin, int64_t by) { return by > 62 ? (bin < 0 ? -1 : 0) : bin >> by; }

// A bin's weight and sum of positions: one load, one addition, one store.
typedef double Cell __attribute__((vector_size(16)));

// A histogram under construction: the range in use may lie anywhere within n_bins cells.
class Histogram {
 public:
  Histogram(double* cells, int64_t n_bins) : cells_(cells), n_bins_(n_bins) {}

  void add(const double* x, const double* w, int count) {
    if (count == 0) return;
    rows_ += count;
    const Range range = loops().range(x, count);
    if (empty_ || range.low < low_ || range.high > high_) make_room(range);
    loops().locate(x, count, unit_, double(first_), bins_, rests_);
    Cell* cells = reinterpret_cast<Cell*>(cells_);
    if (w)
      for (int i = 0; i < count; ++i) cells[bins_[i]] += Cell{1.0, rests_[i]} * w[i];
    else
      for (int i = 0; i < count; ++i) cells[bins_[i]] += Cell{1.0, rests_[i]};
  }

  // Moves what is there to the front.
  HistogramInfo finish(double missing) {
    if (empty_) return {0, 0, 0, 0.0, 0.0, missing};
    const int64_t begin = bin_of(low_, exponent_);
    rearrange(exponent_, begin);
    return {exponent_, begin, rows_, low_, high_, missing};
  }

 private:
  void make_room(Range range) {
    low_ = empty_ ? range.low : std::min(low_, range.low);
    high_ = empty_ ? range.high : std::max(high_, range.high);
    const int64_t exponent = least_exponent(low_, high_, n_bins_);
    const int64_t begin = bin_of(low_, exponent), end = bin_of(high_, exponent) + 1;
    const bool fits = !empty_ && exponent == exponent_ && begin >= first_ && end <= first_ + n_bins_;
    if (!fits) rearrange(exponent, begin - (n_bins_ - (end - begin)) / 2);  // room on both sides
    empty_ = false;
  }

  // The same counts in bins of 2^exponent, the first cell being bin `first`.
  void rearrange(int64_t exponent, int64_t first) {
    if (!empty_ && (exponent != exponent_ || first != first_)) {
      const int64_t by = exponent - exponent_;
      std::vector<double> old(cells_, cells_ + 2 * n_bins_);
      std::fill(cells_, cells_ + 2 * n_bins_, 0.0);
      for (int64_t b = 0; b < n_bins_; ++b) {
        if (old[2 * b] == 0.0) continue;
        const int64_t bin = first_ + b, wider = shifted(bin, by);
        const double left = scaled(double(bin), by) - double(wider);  // the old edge in the new bin
        double* cell = cells_ + 2 * (wider - first);
        cell[0] += old[2 * b];
        cell[1] += scaled(old[2 * b + 1], by) + old[2 * b] * left;
      }
    }
    exponent_ = exponent;
    first_ = first;
    unit_ = std::ldexp(1.0, int(-exponent));
  }

  double* cells_;
  int64_t n_bins_, exponent_ = 0, first_ = 0, rows_ = 0;
  double unit_ = 1.0, low_ = 0.0, high_ = 0.0;
  bool empty_ = true;
  int32_t bins_[TILE];
  double rests_[TILE];
};

// Columns that are read together: a cache line of a row-major table.
constexpr int GROUP = 64 / sizeof(double);

// A tile of a group of columns, each of them side by side.
struct Tile {
  double x[GROUP][TILE], w[TILE];

  template <class T>
  void read(const Table<T>& X, int64_t first, int count, int64_t begin, int rows) {
    if (count == GROUP && X.column_stride == 1) {  // line by line, every line once
      const T* from = X.at(begin, first);
      for (int i = 0; i < rows; ++i, from += X.row_stride)
        for (int c = 0; c < GROUP; ++c) x[c][i] = from[c];
      return;
    }
    for (int c = 0; c < count; ++c) {
      const T* from = X.at(begin, first + c);
      for (int i = 0; i < rows; ++i) x[c][i] = from[i * X.row_stride];
    }
  }

  // Keeps what counts of one column; what is missing is added up.
  int compress(int c, const double* weights, int rows, int64_t row, int64_t column,
               double& missing, Problem& problem) {
    if (!weights && loops().finite(x[c], rows)) return rows;
    int kept = 0;
    for (int i = 0; i < rows; ++i) {
      const double value = x[c][i], weight = weights ? weights[row + i] : 1.0;
      if (std::isinf(value)) problem.note(Problem::INFINITE, row + i, column);
      if (!std::isfinite(value)) missing += weight;
      if (!std::isfinite(value) || !(weight > 0.0)) continue;
      w[kept] = weight;
      x[c][kept++] = value;
    }
    return kept;
  }
};

template <class T>
void sketch_columns(const Table<T>& X, const double* weights, int64_t n_bins, int64_t first,
                    int count, HistogramInfo* info, double* cells, Problem& problem) {
  std::vector<Histogram> histograms;
  std::vector<double> missing(count, 0.0);
  for (int c = 0; c < count; ++c) histograms.emplace_back(cells + (first + c) * n_bins * 2, n_bins);
  const auto tile = std::make_unique<Tile>();
  for (int64_t begin = 0; begin < X.rows; begin += TILE) {
    const int rows = int(std::min<int64_t>(TILE, X.rows - begin));
    tile->read(X, first, count, begin, rows);
    for (int c = 0; c < count; ++c) {
      const int kept =
          tile->compress(c, weights, rows, begin, first + c, missing[c], problem);
      histograms[c].add(tile->x[c], weights ? tile->w : nullptr, kept);
    }
  }
  for (int c = 0; c < count; ++c) info[first + c] = histograms[c].finish(missing[c]);
}

}  // namespace

int64_t least_exponent(double low, double high, int64_t n_bins) {
  const double largest = std::max(std::fabs(low), std::fabs(high));
  int resolution = 0, width = 0;
  std::frexp(largest, &resolution);
  int64_t exponent = largest > 0.0 ? resolution - POSITION_BITS : SMALLEST_EXPONENT;
  // high - low may overflow; its halves do not.
  std::frexp((high / 2 - low / 2) / double(n_bins), &width);
  if (high > low) exponent = std::max<int64_t>(exponent, width - 1);
  exponent = std::max(exponent, SMALLEST_EXPONENT);
  while (bin_of(high, exponent) - bin_of(low, exponent) >= n_bins) ++exponent;
  return exponent;
}

template <class T>
Problem sketch(const Table<T>& X, const double* weights, int64_t n_bins, int n_threads,
               HistogramInfo* info, double* cells) {
  const int64_t fair = (X.columns + n_threads - 1) / n_threads;  // no thread may be left without work
  const int64_t width = std::min<int64_t>(GROUP, fair);
  const int64_t tasks = (X.columns + width - 1) / width;
  std::atomic<int64_t> next{0};
  std::mutex guard;
  Problem problem;
  on_threads(int(std::min<int64_t>(n_threads, tasks)), [&](int) {
    Problem mine;
    for (int64_t task; (task = next.fetch_add(1)) < tasks;) {
      const int64_t first = task * width;
      const int count = int(std::min(width, X.columns - first));
      sketch_columns(X, weights, n_bins, first, count, info, cells, mine);
    }
    std::lock_guard<std::mutex> lock(guard);
    problem.note(mine);
  });
  return problem;
}

template Problem sketch(const Table<float>&, const double*, int64_t, int, HistogramInfo*, double*);
template Problem sketch(const Table<double>&, const double*, int64_t, int, HistogramInfo*, double*);

}  // namespace refold
