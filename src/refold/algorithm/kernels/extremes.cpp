#include "extremes.hpp"

#include <cmath>
#include <limits>

#include "tile.hpp"

namespace refold {
namespace {

constexpr double INFINITE = std::numeric_limits<double>::infinity();

void widen(const Extremes& out, int64_t column, Range range) {
  out.low[column] = std::min(out.low[column], range.low);
  out.high[column] = std::max(out.high[column], range.high);
}

void look(const double* x, const double* w, int64_t n, int64_t column, const Extremes& out) {
  if (n == 0) return;
  if (!w && loops().finite(x, n)) return widen(out, column, loops().range(x, n));
  for (int64_t i = 0; i < n; ++i) {
    const double weight = w ? w[i] : 1.0;
    if (std::isnan(x[i])) out.missing[column] += weight;
    else if (weight > 0.0) widen(out, column, {x[i], x[i]});
  }
}

}  // namespace

template <class T>
void extremes(const Table<T>& X, const double* weights, int n_threads, Extremes out) {
  std::fill_n(out.low, X.columns, INFINITE);
  std::fill_n(out.high, X.columns, -INFINITE);
  std::fill_n(out.missing, X.columns, 0.0);
  in_groups(X, COLUMNS_AT_ONCE, n_threads, [&](Groups& groups, Problem&, Watch& watch) {
    Tile tile(groups.width);
    for (int64_t first; (first = groups.next()) < X.columns;)
      each_tile(X, first, groups.count(first), tile, watch,
                [&](int c, const double* x, int64_t begin, int64_t rows) {
                  look(x, weights ? weights + begin : nullptr, rows, first + c, out);
                });
  });
}

template void extremes(const Table<float>&, const double*, int, Extremes);
template void extremes(const Table<double>&, const double*, int, Extremes);

}  // namespace refold
