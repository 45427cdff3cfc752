#include "dense.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "threads.hpp"

namespace refold {
namespace {

constexpr int64_t TILE = PANEL * PANEL;
// Rows whose products are added up in registers: two panels of them fit into the first-level cache.
constexpr int64_t DEPTH = 128;
// Rows whose products are added up by one thread, and then to those of the rows before. They depend
// on the number of rows alone: few enough to divide among threads, many enough that adding up costs
// little.
constexpr int64_t LEAST_PART = 512, MOST_PART = 4096, PARTS = 8;

int64_t panels_of(int64_t n) { return (n + PANEL - 1) / PANEL; }
int64_t tiles_up_to(int64_t panel) { return panel * (panel + 1) / 2; }

// Sums of products of features in panels: tile (i, j), j <= i, is the (i (i + 1) / 2 + j)-th.
struct Tiles {
  explicit Tiles(int64_t panels)
      : panels(panels), gram(tiles_up_to(panels) * TILE), total(panels * PANEL) {
    clear();
  }
  int64_t panels;
  Doubles gram, total;
  void clear() {
    std::fill_n(gram.data(), tiles_up_to(panels) * TILE, 0.0);
    std::fill_n(total.data(), panels * PANEL, 0.0);
  }
  void add(const Tiles& other) {
    for (int64_t i = 0; i < tiles_up_to(panels) * TILE; ++i) gram.data()[i] += other.gram.data()[i];
    for (int64_t i = 0; i < panels * PANEL; ++i) total.data()[i] += other.total.data()[i];
  }
  // Adds at most DEPTH rows of panels that are `gap` apart; they are scaled by their weights.
  void add(double* phi, int64_t gap, int64_t rows, const double* weights) {
    double roots[DEPTH];
    for (int64_t r = 0; r < rows; ++r) roots[r] = std::sqrt(weights[r]);
    for (int64_t s = 0; s < panels; ++s)
      for (int64_t r = 0; r < rows; ++r) {
        double* at = phi + s * gap + r * PANEL;
        for (int l = 0; l < PANEL; ++l) {
          total.data()[s * PANEL + l] += weights[r] * at[l];
          at[l] *= roots[r];
        }
      }
    for (int64_t i = 0; i < panels; ++i)
      for (int64_t j = 0; j <= i; ++j)
        products().outer(phi + i * gap, phi + j * gap, rows, tile(i, j));
  }
  double* tile(int64_t i, int64_t j) { return gram.data() + (tiles_up_to(i) + j) * TILE; }
  double& at(int64_t row, int64_t column) {
    return tile(row / PANEL, column / PANEL)[row % PANEL * PANEL + column % PANEL];
  }
};

// `begin()` makes what gives a thread rows: give(first, rows) returns their panels, DEPTH rows apart.
template <class Begin>
Tiles added_up(int64_t rows, int64_t panels, const double* weights, int n_threads, Begin begin) {
  const int64_t fair = (rows + PARTS - 1) / PARTS;
  const int64_t part = (std::clamp(fair, LEAST_PART, MOST_PART) + DEPTH - 1) / DEPTH * DEPTH;
  const int64_t parts = (rows + part - 1) / part;
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, parts)));
  Tiles all(panels);
  Turns turns;
  std::atomic<int64_t> taken{0};
  on_threads(n_threads, [&](int, Watch& watch) {
    auto give = begin();
    Tiles mine(panels);
    for (int64_t n; (n = taken.fetch_add(1)) < parts;) {
      mine.clear();
      const int64_t end = std::min(rows, (n + 1) * part);
      for (int64_t first = n * part; first < end; first += DEPTH) {
        const int64_t some = std::min(DEPTH, end - first);
        mine.add(give(first, some), DEPTH * PANEL, some, weights + first);
        watch.did(some * panels * panels * PANEL);
      }
      turns.take(n, watch, [&] { all.add(mine); });
    }
  });
  return all;
}

void write(Tiles& sums, const std::vector<int64_t>& places, const FeatureSums& out) {
  const int64_t p = int64_t(places.size());
  for (int64_t j = 0; j < p; ++j) {
    out.total[j] = sums.total.data()[places[j]];
    for (int64_t i = j; i < p; ++i) out.gram[j * p + i] = sums.at(places[i], places[j]);
  }
}

}  // namespace

template <class T>
void sum_features(const CreaseMap& map, const Table<T>& X, const double* weights, int n_threads,
                  const FeatureSums& out) {
  Tiles sums = added_up(X.rows, map.panels(), weights, n_threads, [&] {
    return [&, rows = Features(map, DEPTH)](int64_t first, int64_t some) mutable {
      Problem ignored;  // whoever learns has looked at the table
      rows.read(X, first, some, ignored, nullptr);
      rows.fold(nullptr);
      return rows.panels();
    };
  });
  write(sums, map.places(), out);
}

void sum_products(const double* phi, int64_t rows, int64_t p, const double* weights, int n_threads,
                  const FeatureSums& out) {
  const int64_t panels = panels_of(p);
  Tiles sums = added_up(rows, panels, weights, n_threads, [&] {
    return [&, memory = std::vector<double>(panels * DEPTH * PANEL)](int64_t first,
                                                                     int64_t some) mutable {
      for (int64_t r = 0; r < some; ++r)
        for (int64_t i = 0; i < p; ++i)
          memory[(i / PANEL * DEPTH + r) * PANEL + i % PANEL] = phi[(first + r) * p + i];
      return memory.data();
    };
  });
  std::vector<int64_t> places(p);
  std::iota(places.begin(), places.end(), int64_t(0));
  write(sums, places, out);
}

void multiply(const double* A, int64_t n, const double* B, int64_t m, int64_t k, int n_threads,
              double* out) {
  const int64_t strips = panels_of(m), gap = ROWS_AT_ONCE * PANEL;
  Doubles packed(strips * k * PANEL);
  for (int64_t j = 0; j < strips * PANEL; ++j)
    for (int64_t i = 0; i < k; ++i)
      packed.data()[(j / PANEL * k + i) * PANEL + j % PANEL] = j < m ? B[j * k + i] : 0.0;
  const int64_t blocks = (n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, blocks)));
  on_threads(n_threads, [&](int t, Watch& watch) {
    Doubles a(panels_of(k) * gap), y(gap);
    for (int64_t b = blocks * t / n_threads; b < blocks * (t + 1) / n_threads; ++b) {
      const int64_t first = b * ROWS_AT_ONCE, rows = std::min<int64_t>(ROWS_AT_ONCE, n - first);
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t i = 0; i < k; ++i)
          a.data()[i / PANEL * gap + r * PANEL + i % PANEL] = A[(first + r) * k + i];
      for (int64_t s = 0; s < strips; ++s) {
        products().multiply(a.data(), gap, rows, packed.data() + s * k * PANEL, k, y.data());
        const int64_t some = std::min<int64_t>(PANEL, m - s * PANEL);
        for (int64_t r = 0; r < rows; ++r)
          std::copy_n(y.data() + r * PANEL, some, out + (first + r) * m + s * PANEL);
      }
      watch.did(rows * (m * k / PANEL + 1));
    }
  });
}

namespace {

// A lower triangle in panels of its rows: [column][PANEL rows] for all columns up to a panel's end.
class Triangle {
 public:
  explicit Triangle(int64_t size)
      : panels_(panels_of(size)), memory_(tiles_up_to(panels_) * TILE) {}
  int64_t panels() const { return panels_; }
  double* panel(int64_t i) { return memory_.data() + tiles_up_to(i) * TILE; }

  // Tile (i, j) of A in `tile`, without the products of the columns before it, becomes that of L.
  bool finish(int64_t i, int64_t j, double* tile) {
    double *to = panel(i) + j * TILE, *diagonal = panel(j) + j * TILE;
    for (int b = 0; b < PANEL; ++b) {
      double* column = to + b * PANEL;
      for (int a = 0; a < PANEL; ++a) column[a] = tile[a * PANEL + b];
      for (int c = 0; c < b; ++c) {
        const double factor = diagonal[c * PANEL + b];
        for (int a = 0; a < PANEL; ++a) column[a] -= to[c * PANEL + a] * factor;
      }
      if (i == j) {
        const double pivot = column[b];
        if (!(pivot > 0.0 && std::isfinite(pivot))) return false;
        column[b] = std::sqrt(pivot);
        for (int a = 0; a < b; ++a) column[a] = 0.0;
        for (int a = b + 1; a < PANEL; ++a) column[a] /= column[b];
      } else {
        for (int a = 0; a < PANEL; ++a) column[a] /= diagonal[b * PANEL + b];
      }
    }
    return true;
  }

 private:
  int64_t panels_;
  Doubles memory_;
};

// Rows of L⁻¹B from panel `first` on, where B begins; 16 columns of it, in place.
void solve(Triangle& L, int64_t first, double* rows) {
  for (int64_t i = first; i < L.panels(); ++i) {
    double tile[TILE] = {};
    products().outer(L.panel(i) + first * TILE, rows, (i - first) * PANEL, tile);
    const double* diagonal = L.panel(i) + i * TILE;
    double* to = rows + (i - first) * TILE;
    for (int a = 0; a < PANEL; ++a) {
      for (int b = 0; b < PANEL; ++b) to[a * PANEL + b] -= tile[a * PANEL + b];
      for (int c = 0; c < a; ++c)
        for (int b = 0; b < PANEL; ++b)
          to[a * PANEL + b] -= diagonal[c * PANEL + a] * to[c * PANEL + b];
      for (int b = 0; b < PANEL; ++b) to[a * PANEL + b] /= diagonal[a * PANEL + a];
    }
  }
}

bool factored(const Scatter& A, Triangle& L) {
  const int64_t p = A.size;
  for (int64_t j = 0; j < L.panels(); ++j)
    for (int64_t i = j; i < L.panels(); ++i) {
      double tile[TILE] = {};
      products().outer(L.panel(i), L.panel(j), j * PANEL, tile);
      for (int a = 0; a < PANEL; ++a)
        for (int b = 0; b < PANEL; ++b) {
          const int64_t row = i * PANEL + a, column = j * PANEL + b;
          const bool inside = row < p && column < p;
          const double own = inside ? A.at(row, column) : (row == column ? 1.0 : 0.0);
          tile[a * PANEL + b] = own - tile[a * PANEL + b];
        }
      if (!L.finish(i, j, tile)) return false;
    }
  return true;
}

// Calls store(row, c, values) with L⁻¹B, 16 columns from c on; without B it is of the identity.
template <class Store>
void solve_strips(Triangle& L, int64_t p, const double* B, int64_t columns, int n_threads,
                  Store store) {
  const int64_t panels = L.panels(), strips = panels_of(columns);
  std::atomic<int64_t> taken{0};
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, strips)));
  on_threads(n_threads, [&](int, Watch& watch) {
    Doubles rows(panels * TILE);
    const double zeros[PANEL] = {};
    for (int64_t j; (j = taken.fetch_add(1)) < strips;) {
      const int64_t begin = j * PANEL, some = std::min<int64_t>(PANEL, columns - begin);
      const int64_t first = B ? 0 : j;  // above its diagonal the inverse has zeros
      std::fill_n(rows.data(), panels * TILE, 0.0);
      if (B)
        for (int64_t row = 0; row < p; ++row)
          std::copy_n(B + row * columns + begin, some, rows.data() + row * PANEL);
      else
        for (int l = 0; l < PANEL; ++l) rows.data()[l * PANEL + l] = 1.0;
      solve(L, first, rows.data());
      for (int64_t row = 0; row < p; ++row)
        store(row, begin,
              row < first * PANEL ? zeros : rows.data() + (row - first * PANEL) * PANEL);
      watch.did((panels - first) * (panels - first) * PANEL);
    }
  });
}

}  // namespace

bool cholesky(const Scatter& A, double* L) {
  const int64_t p = A.size;
  Triangle triangle(p);
  if (!factored(A, triangle)) return false;
  std::fill_n(L, p * p, 0.0);
  for (int64_t row = 0; row < p; ++row)
    for (int64_t k = 0; k <= row; ++k)
      L[row * p + k] = triangle.panel(row / PANEL)[k * PANEL + row % PANEL];
  return true;
}

bool pivots(const Scatter& A, int64_t steps, int64_t* order) {
  constexpr int64_t AT_ONCE = 64;  // steps whose products are taken off together
  const int64_t p = A.size, panels = panels_of(p), gap = AT_ONCE * PANEL;
  Tiles rest(panels);  // of what the features taken do not explain; rows of these are not used
  for (int64_t row = 0; row < p; ++row)
    for (int64_t k = 0; k <= row; ++k) rest.at(row, k) = A.at(row, k);
  Doubles columns(panels * gap), minus(panels * gap);  // of the factor, and the same below zero
  std::vector<double> left(panels * PANEL, 0.0);
  std::vector<char> taken(p, 0);
  for (int64_t done = 0, some; done < steps; done += some) {
    some = std::min(AT_ONCE, steps - done);
    for (int64_t i = 0; i < p; ++i) left[i] = rest.at(i, i);
    for (int64_t j = 0; j < some; ++j) {
      int64_t pivot = -1;
      for (int64_t i = 0; i < p; ++i)
        if (!taken[i] && (pivot < 0 || left[i] > left[pivot])) pivot = i;
      if (!(left[pivot] > 0.0 && std::isfinite(left[pivot]))) return false;
      const double root = std::sqrt(left[pivot]);
      const double* own = columns.data() + pivot / PANEL * gap + pivot % PANEL;
      for (int64_t s = 0; s < panels; ++s) {
        double *panel = columns.data() + s * gap, *column = panel + j * PANEL;
        for (int l = 0; l < PANEL; ++l) {
          const int64_t i = s * PANEL + l;
          const bool used = i < p && !taken[i];
          column[l] = used ? rest.at(std::max(i, pivot), std::min(i, pivot)) : 0.0;
        }
        for (int64_t m = 0; m < j; ++m)
          for (int l = 0; l < PANEL; ++l) column[l] -= panel[m * PANEL + l] * own[m * PANEL];
        for (int l = 0; l < PANEL; ++l) {
          column[l] = s * PANEL + l < p && !taken[s * PANEL + l] ? column[l] / root : 0.0;
          left[s * PANEL + l] -= column[l] * column[l];
          minus.data()[s * gap + j * PANEL + l] = -column[l];
        }
      }
      taken[pivot] = 1;
      *order++ = pivot;
    }
    for (int64_t i = 0; i < panels; ++i)
      for (int64_t j = 0; j <= i; ++j)
        products().outer(minus.data() + i * gap, columns.data() + j * gap, some, rest.tile(i, j));
  }
  for (int64_t i = 0; i < p; ++i)
    if (!taken[i]) *order++ = i;
  return true;
}

void solve(const double* L, int64_t p, const double* B, int64_t columns, int n_threads,
           double* out) {
  Triangle triangle(p);
  for (int64_t row = 0; row < triangle.panels() * PANEL; ++row)
    for (int64_t k = 0; k < (row / PANEL + 1) * PANEL; ++k)
      triangle.panel(row / PANEL)[k * PANEL + row % PANEL] =
          row < p && k <= row ? L[row * p + k] : (row == k ? 1.0 : 0.0);
  solve_strips(triangle, p, B, columns, n_threads, [&](int64_t row, int64_t c, const double* from) {
    std::copy_n(from, std::min<int64_t>(PANEL, columns - c), out + row * columns + c);
  });
}

bool last_rows(const Scatter& A, int64_t count, int n_threads, double* out) {
  const int64_t p = A.size, first = p - count;
  Triangle triangle(p);
  if (!factored(A, triangle)) return false;
  solve_strips(triangle, p, nullptr, p, n_threads, [&](int64_t row, int64_t c, const double* from) {
    for (int64_t k = c; row >= first && k < std::min(p, c + PANEL); ++k)
      out[(row - first) * A.width + (A.some ? A.some[k] : k)] = from[k - c];
  });
  return true;
}

template void sum_features(const CreaseMap&, const Table<float>&, const double*, int,
                           const FeatureSums&);
template void sum_features(const CreaseMap&, const Table<double>&, const double*, int,
                           const FeatureSums&);

}  // namespace refold
