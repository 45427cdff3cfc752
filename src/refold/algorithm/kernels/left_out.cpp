#include "left_out.hpp"

#include <atomic>
#include <cmath>
#include <vector>

#include "column.hpp"

namespace refold {
namespace {

// Columns are copied, so many at a time that they take no more memory than this.
constexpr int64_t MOST_BYTES = int64_t(32) << 20;

// A column of the table as it is, with its gaps.
struct Whole {
  Buffer values;
  int64_t rows;
  bool gaps;

  template <class T>
  void read(const Table<T>& X, int64_t column) {
    rows = X.rows;
    values.reserve(rows);
    const T* from = X.at(0, column);
    double* to = values.data();
    for (int64_t i = 0; i < rows; ++i) to[i] = from[i * X.row_stride];
    gaps = !loops().finite(to, rows);  // there is no infinity: all rows have been learned before
  }
};

// Rows part, part + parts, … of a table.
struct Part {
  int64_t number, parts;
  int64_t size(int64_t rows) const { return (rows - number + parts - 1) / parts; }
  int64_t row(int64_t k) const { return number + k * parts; }

  // What the other parts have in a column.
  void others(Whole& from, Column& to) const {
    to.weighted = false;
    to.size = 0;
    to.values.reserve(from.rows);
    double *all = from.values.data(), *out = to.values.data();
    int64_t count = 0;
    for (int64_t begin = 0, end = number; begin < from.rows; begin = end + 1, end += parts) {
      end = std::min(end, from.rows);
      if (!from.gaps) {
        std::copy(all + begin, all + end, out + count);
        count += end - begin;
      } else
        for (int64_t i = begin; i < end; ++i)
          if (all[i] == all[i]) out[count++] = all[i];
    }
    to.take(count);
  }
};

// The chain of one column, as it is learned and then as scoring uses it (see FoldChain.steps).
class OneFeature {
 public:
  explicit OneFeature(const Recipe& recipe)
      : fold_(recipe.fold), shifts_(recipe.n_iter), scales_(recipe.n_iter) {}

  Writer writer() { return {{shifts_.data(), scales_.data(), &gain_, &levels_}, 1, 0}; }

  Feature feature() {
    int exponent;
    std::frexp(scales_[0], &exponent);
    const double unit = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
    const double offset = shifts_[0] / unit;
    scales_[0] /= unit;
    if (fold_ == ABS)
      for (int64_t j = 1; j < levels_; ++j) {
        shifts_[j] *= scales_[j - 1];
        scales_[j] *= scales_[j - 1];
      }
    for (int64_t j = 0; j < levels_; ++j) scales_[j] = 1.0 / scales_[j];
    return {1.0 / unit, offset, shifts_.data(), scales_.data(), int(levels_)};
  }

 private:
  int fold_;
  std::vector<double> shifts_, scales_;
  double gain_ = 1.0;
  int64_t levels_ = 0;
};

// Adds what one column has to do with the distances of a part's rows to their sums.
struct Adding {
  const Recipe& recipe;
  bool path;
  Sink sink;

  void operator()(const Feature& f, Whole& column, const Part& part, double* sums) const {
    const int64_t size = part.size(column.rows);
    for (int64_t first = 0; first < size; first += BLOCK) {
      alignas(64) double x[BLOCK] = {}, mask[BLOCK] = {}, sum[BLOCK] = {};
      const int rows = int(std::min<int64_t>(BLOCK, size - first));
      for (int r = 0; r < rows; ++r) {
        const int64_t row = part.row(first + r);
        const double value = column.values.data()[row];
        const bool here = value == value;
        x[r] = here ? value : 0.0;
        mask[r] = here ? 1.0 : 0.0;
        sum[r] = sums[row];
      }
      const double* observed = column.gaps ? mask : nullptr;
      if (path) loops().path[recipe.fold](f, x, observed, recipe.n_iter, sink, sum);
      else loops().last[recipe.fold](f, x, observed, sink, sum);
      for (int r = 0; r < rows; ++r) sums[part.row(first + r)] = sum[r];
    }
  }
};

}  // namespace

template <class T>
Problem left_out(const Table<T>& X, const Recipe& recipe, int64_t parts, Distance distance,
                 bool path, int n_threads, double* out) {
  const int64_t fit = MOST_BYTES / (std::max<int64_t>(X.rows, 1) * int64_t(sizeof(double)));
  const int64_t group = std::clamp<int64_t>(fit, 1, X.columns);
  const Adding add{recipe, path, distance == Distance::L1 ? ADD_MAGNITUDE : ADD_SQUARE};
  std::vector<Whole> columns(group);
  std::vector<double> observed(X.rows, 0.0);
  std::fill_n(out, X.rows, 0.0);
  Mutex guard;
  Problem problem;
  int64_t worst = parts;  // the first part without which there is no chain
  for (int64_t begin = 0; begin < X.columns; begin += group) {
    const int64_t count = std::min(group, X.columns - begin);
    for (int64_t c = 0; c < count; ++c) {
      columns[c].read(X, begin + c);
      const double* x = columns[c].values.data();
      for (int64_t i = 0; i < X.rows; ++i) observed[i] += x[i] == x[i] ? 1.0 : 0.0;
    }
    std::atomic<int64_t> next{0};
    on_threads(int(std::min<int64_t>(n_threads, parts)), [&](int, Watch& watch) {
      Column column;
      for (int64_t number; (number = next.fetch_add(1)) < parts;) {
        const Part part{number, parts};
        Problem mine;
        for (int64_t c = 0; c < count && mine.kind == Problem::NONE; ++c) {
          OneFeature one(recipe);
          part.others(columns[c], column);
          learn_column(column, recipe, one.writer(), mine, watch);
          if (mine.kind == Problem::NONE) add(one.feature(), columns[c], part, out);
          else mine.column = begin + c;
        }
        if (mine.kind == Problem::NONE) continue;
        const Lock lock(guard);
        if (number >= worst) continue;
        worst = number;
        problem = mine;
      }
    });
  }
  for (int64_t i = 0; i < X.rows; ++i) out[i] = to_distance(distance, out[i], observed[i]);
  return problem;
}

template Problem left_out(const Table<float>&, const Recipe&, int64_t, Distance, bool, int,
                          double*);
template Problem left_out(const Table<double>&, const Recipe&, int64_t, Distance, bool, int,
                          double*);

}  // namespace refold
