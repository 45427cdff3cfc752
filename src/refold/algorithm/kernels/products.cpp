// Compiled once per instruction set into the namespace REFOLD_ISA, under the same rules as loops.cpp.
#include "products.hpp"

#include "vectors.hpp"

namespace refold {
namespace REFOLD_ISA {
namespace {

constexpr int VECTORS = PANEL / WIDTH;  // in a panel
// Sums that stay in registers: so many rows by so many vectors. One row alone, which waits for memory,
// takes whole panels.
#ifdef __AVX512F__
constexpr int MOST_ROWS = 8, MOST_VECTORS = VECTORS;
#else
constexpr int MOST_ROWS = 6, MOST_VECTORS = VECTORS / 2;
#endif

template <int ROWS, int COUNT>
struct Sums {
  Vec v[ROWS][COUNT];
};

// Adds up a(row, k) * b[k][.] for k in order; b is part of a panel.
template <int ROWS, int COUNT>
inline void add_step(Sums<ROWS, COUNT>& sums, const double* a, int64_t a_step, const double* b) {
  Vec each[COUNT];
  for (int v = 0; v < COUNT; ++v) each[v] = load(b + v * WIDTH);
  for (int r = 0; r < ROWS; ++r) {
    const Vec factor = all(a[r * a_step]);
    for (int v = 0; v < COUNT; ++v) sums.v[r][v] = fused(factor, each[v], sums.v[r][v]);
  }
}

template <int ROWS, int COUNT>
__attribute__((noinline)) void multiply_rows(const double* a, int64_t gap, const double* b,
                                             int64_t depth, double* out) {
  Sums<ROWS, COUNT> sums = {};
  for (; depth >= PANEL; depth -= PANEL, a += gap)
    for (int k = 0; k < PANEL; ++k, b += PANEL) add_step(sums, a + k, PANEL, b);
  for (int k = 0; k < depth; ++k, b += PANEL) add_step(sums, a + k, PANEL, b);
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < COUNT; ++v) store(out + r * PANEL + v * WIDTH, sums.v[r][v]);
}

template <int ROWS, int COUNT = MOST_VECTORS>
void multiply_part(const double* a, int64_t gap, const double* b, int64_t depth, double* out) {
  for (int at = 0; at < PANEL; at += COUNT * WIDTH)
    multiply_rows<ROWS, COUNT>(a, gap, b + at, depth, out + at);
}

void multiply(const double* a, int64_t gap, int64_t rows, const double* b, int64_t depth,
              double* out) {
  using Part = void (*)(const double*, int64_t, const double*, int64_t, double*);
  static constexpr Part parts[] = {
      nullptr,          multiply_part<1, VECTORS>, multiply_part<2, VECTORS>, multiply_part<3>,
      multiply_part<4>, multiply_part<5>,          multiply_part<6>,
#ifdef __AVX512F__
      multiply_part<7>, multiply_part<8>,
#endif
  };
  while (rows > 0) {
    const int some = rows < MOST_ROWS ? int(rows) : MOST_ROWS;
    parts[some](a, gap, b, depth, out);
    a += some * PANEL;
    out += some * PANEL;
    rows -= some;
  }
}

template <int ROWS, int COUNT>
__attribute__((noinline)) void outer_part(const double* a, const double* b, int64_t depth,
                                          double* tile) {
  Sums<ROWS, COUNT> sums = {};
  for (int64_t k = 0; k < depth; ++k, a += PANEL, b += PANEL) add_step(sums, a, 1, b);
  for (int r = 0; r < ROWS; ++r)
    for (int v = 0; v < COUNT; ++v) {
      double* at = tile + r * PANEL + v * WIDTH;
      store(at, load(at) + sums.v[r][v]);
    }
}

template <int ROWS, int FIRST>
inline void outer_rows(const double* a, const double* b, int64_t depth, double* tile) {
  for (int at = 0; at < PANEL; at += MOST_VECTORS * WIDTH)
    outer_part<ROWS, MOST_VECTORS>(a + FIRST, b + at, depth, tile + FIRST * PANEL + at);
}

void outer(const double* a, const double* b, int64_t depth, double* tile) {
#ifdef __AVX512F__
  outer_rows<8, 0>(a, b, depth, tile);
  outer_rows<8, 8>(a, b, depth, tile);
#else
  outer_rows<6, 0>(a, b, depth, tile);
  outer_rows<5, 6>(a, b, depth, tile);
  outer_rows<5, 11>(a, b, depth, tile);
#endif
}

void fold(const double* y, int64_t rows, const PanelLevels& f, const double* centers, double* out,
          int64_t gap) {
  for (int v = 0; v < PANEL; v += WIDTH) {
    const Vec offset = load(f.offsets + v);
    for (int64_t r = 0; r < rows; ++r) {
      Vec value = load(y + r * PANEL + v) - offset;
      for (int64_t j = 0; j < f.levels; ++j) {
        const int64_t at = j * f.apart + v;
        value = (magnitude(value) - load(f.shifts + at)) * load(f.slopes + at);
        store(out + j * gap + r * PANEL + v, value - load(centers + at));
      }
    }
  }
}

void magnitudes(double* y, const double* weights, int64_t rows, const double* offsets,
                const double* slopes, double* sums, double* squares) {
  for (int v = 0; v < PANEL; v += WIDTH) {
    const Vec offset = load(offsets + v), slope = load(slopes + v);
    Vec sum = {}, square = {};
    for (int64_t r = 0; r < rows; ++r) {
      double* at = y + r * PANEL + v;
      const Vec value = magnitude((load(at) - offset) * slope), part = weights[r] * value;
      store(at, value);
      sum += part;
      square += part * value;
    }
    store(sums + v, sum);
    store(squares + v, square);
  }
}

void deviations(double* y, const double* weights, int64_t rows, const double* offsets,
                double* squares) {
  for (int v = 0; v < PANEL; v += WIDTH) {
    const Vec offset = load(offsets + v);
    Vec square = {};
    for (int64_t r = 0; r < rows; ++r) {
      double* at = y + r * PANEL + v;
      const Vec value = load(at) - offset;
      store(at, value);
      square += weights[r] * value * value;
    }
    store(squares + v, square);
  }
}

}  // namespace

extern const Products products = {multiply, outer, fold, magnitudes, deviations};

}  // namespace REFOLD_ISA
}  // namespace refold
