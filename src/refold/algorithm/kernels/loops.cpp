// Compiled once per instruction set into the namespace REFOLD_ISA. Nothing from the standard library
// that is inline may be used here: the linker could keep the copy that needs AVX2 for everybody.
#include "loops.hpp"

#include <math.h>

#include "vectors.hpp"

namespace refold {
namespace REFOLD_ISA {
namespace {

// The lanes are the same everywhere, and so are the bits of every sum.
static_assert(WIDTH == 4);
constexpr int LANES = 4;  // accumulators of a sum: enough to hide the latency of an addition
constexpr int64_t STRIDE = WIDTH * LANES;
constexpr int64_t CHUNK = 4096;  // sums are carried over in twice the precision after so many rows

// v - m, where additions are many by the unit that multiplies; the same bits.
inline Vec minus(Vec v, double m) {
#ifdef __FMA__
  return fused(v, all(1.0), all(-m));
#else
  return v - m;
#endif
}
inline Vec clamp(Vec v) {
  v = v < LARGEST ? v : all(LARGEST);
  return v > -LARGEST ? v : all(-LARGEST);
}

// ---- folds: the value and the slope |fold'|, on a vector or on one double -------------------

template <double (*F)(double)>
inline Vec each(Vec v) {
  for (int k = 0; k < WIDTH; ++k) v[k] = F(v[k]);
  return v;
}
inline double cos_or_abs(double v) { return fabs(v) <= 1.0 ? cos(v) : fabs(v); }
inline double cos_or_abs_slope(double v) { return fabs(v) <= 1.0 ? fabs(sin(v)) : 1.0; }
inline double sin_slope(double v) { return fabs(cos(v)); }
inline double cos_slope(double v) { return fabs(sin(v)); }
inline double tanh_slope(double v) {
  const double t = tanh(v);
  return 1.0 - t * t;
}

struct Sqr {
  static Vec value(Vec v) { return v * v; }
  static Vec slope(Vec v) { return 2.0 * magnitude(v); }
};
struct CosAbs {
  static Vec value(Vec v) { return each<cos_or_abs>(v); }
  static Vec slope(Vec v) { return each<cos_or_abs_slope>(v); }
};
struct Cos {
  static Vec value(Vec v) { return each<cos>(v); }
  static Vec slope(Vec v) { return each<cos_slope>(v); }
};
struct Sin {
  static Vec value(Vec v) { return each<sin>(v); }
  static Vec slope(Vec v) { return each<sin_slope>(v); }
};
struct Tanh {
  static Vec value(Vec v) { return each<tanh>(v); }
  static Vec slope(Vec v) { return each<tanh_slope>(v); }
};

// ---- one level of a chain -------------------------------------------------------------------

// abs is positively homogeneous, so inner scales cancel: a level is |v| - m in the feature's own
// units, and only reading a value multiplies it by 1/s.
struct AbsChain {
  static Vec first(Vec v, double) { return v; }
  static Vec step(Vec v, double shift, double) { return magnitude(v) - shift; }
  static Vec read(Vec v, double factor) { return clamp(v * factor); }
  static Vec add_magnitude(Vec sum, Vec v, double factor) {
    return fused(magnitude(v), all(factor), sum);
  }
};

template <class F>
struct StandardizedChain {
  static Vec first(Vec v, double factor) { return clamp(v * factor); }
  static Vec step(Vec v, double shift, double factor) {
    return clamp((F::value(v) - shift) * factor);
  }
  static Vec read(Vec v, double) { return v; }
  static Vec add_magnitude(Vec sum, Vec v, double) { return sum + magnitude(v); }
};

// ---- scoring --------------------------------------------------------------------------------

template <int N>
struct Rows {
  Vec v[N];
};

template <class Chain, int N>
inline Rows<N> enter(const Feature& f, const double* x) {
  Rows<N> rows;
  for (int k = 0; k < N; ++k)
    rows.v[k] = Chain::first(load(x + k * WIDTH) * f.unit - f.offset, f.factor[0]);
  return rows;
}

template <class Chain, int N>
inline void step(Rows<N>& rows, const Feature& f, int level) {
  const double shift = f.shift[level], factor = f.factor[level];
  for (int k = 0; k < N; ++k) rows.v[k] = Chain::step(rows.v[k], shift, factor);
}

template <int N>
inline void emit(const Rows<N>& rows, const double* observed, Sink sink, double* out) {
  for (int k = 0; k < N; ++k) {
    double* o = out + k * WIDTH;
    Vec y = rows.v[k];
    if (observed) y = y * load(observed + k * WIDTH);
    if (sink == STORE) store(o, y);
    else if (sink == ADD_MAGNITUDE) store(o, load(o) + magnitude(y));
    else store(o, load(o) + y * y);
  }
}

template <class Chain>
void last(const Feature& f, const double* x, const double* observed, Sink sink, double* out) {
  constexpr int N = BLOCK / WIDTH;
  auto rows = enter<Chain, N>(f, x);
  for (int j = 1; j < f.levels; ++j) step<Chain, N>(rows, f, j);
  for (int k = 0; k < N; ++k) rows.v[k] = Chain::read(rows.v[k], f.factor[f.levels - 1]);
  emit(rows, observed, sink, out);
}

// Values and sums of 24 rows fit the registers; of 48 they would not. A function of its own, so that
// nothing else wants a register: one spilled sum makes the loop wait for memory at every level.
constexpr int HALF = BLOCK / WIDTH / 2;

template <class Chain>
__attribute__((noinline)) void walk(const Feature& f, Rows<HALF>& rows, Rows<HALF>& sums) {
  Rows<HALF> v = rows, sum = {};
  const double *shift = f.shift, *factor = f.factor;
  const int levels = f.levels;
  for (int j = 1; j < levels; ++j)
    for (int k = 0; k < HALF; ++k) {
      sum.v[k] = Chain::add_magnitude(sum.v[k], v.v[k], factor[j - 1]);
      v.v[k] = Chain::step(v.v[k], shift[j], factor[j]);
    }
  rows = v;
  sums = sum;
}

template <class Chain>
void path(const Feature& f, const double* x, const double* observed, int n_iter, Sink sink,
          double* out) {
  const double kept = n_iter - f.levels + 1;  // the last level stands for all that were not folded
  const double share = 1.0 / n_iter;
  for (int half = 0; half < 2; ++half) {
    const int at = half * HALF * WIDTH;
    auto rows = enter<Chain, HALF>(f, x + at);
    Rows<HALF> sum;
    walk<Chain>(f, rows, sum);
    for (int k = 0; k < HALF; ++k) {
      const Vec end = magnitude(Chain::read(rows.v[k], f.factor[f.levels - 1]));
      sum.v[k] = clamp((sum.v[k] + end * kept) * share);
    }
    emit(sum, observed ? observed + at : nullptr, sink, out + at);
  }
}

template <class Chain, class Visit>
inline void each_level(const Feature& f, const double* x, const double* observed, Visit visit) {
  constexpr int N = BLOCK / WIDTH;
  auto rows = enter<Chain, N>(f, x);
  for (int j = 0; j < f.levels; ++j) {
    if (j > 0) step<Chain, N>(rows, f, j);
    for (int k = 0; k < N; ++k) {
      Vec y = Chain::read(rows.v[k], f.factor[j]);
      if (observed) y = y * load(observed + k * WIDTH);
      visit(j, k * WIDTH, y);
    }
  }
}

template <class Chain>
void trace(const Feature& f, const double* x, const double* observed, int n_iter, Sink sink,
           double* sums) {
  each_level<Chain>(f, x, observed, [&](int j, int row, Vec y) {
    const Vec amount = sink == ADD_SQUARE ? y * y : magnitude(y);
    const int until = j == f.levels - 1 ? n_iter : j + 1;
    for (int level = j; level < until; ++level) {
      double* o = sums + level * BLOCK + row;
      store(o, load(o) + amount);
    }
  });
}

template <class Chain>
void path_squares(const Feature& f, const double* x, const double* observed, int n_iter,
                  const double* weight, double* out) {
  for (int r = 0; r < BLOCK; ++r) out[r] = 0.0;
  each_level<Chain>(f, x, observed, [&](int j, int row, Vec y) {
    const int until = j == f.levels - 1 ? n_iter : j + 1;
    Vec sum = load(out + row);
    for (int level = j; level < until; ++level) sum += y * y * load(weight + level * BLOCK + row);
    store(out + row, sum);
  });
}

// ---- learning -------------------------------------------------------------------------------

// A sum with fixed lanes within a chunk of rows, chunks added up in twice the precision.
struct Total {
  double high = 0.0, low = 0.0;
  void add(const Vec (&lanes)[LANES], double tail) {
    const Vec v = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    const double part = ((v[0] + v[1]) + (v[2] + v[3])) + tail;
    const double sum = high + part, back = sum - high;  // Knuth's two-sum
    low += (high - (sum - back)) + (part - back);
    high = sum;
  }
  double value() const { return high + low; }
};

// The first so many of four lanes.
inline Bits first_lanes(int64_t count) {
  static const uint64_t lanes[2 * WIDTH] = {~uint64_t(0), ~uint64_t(0), ~uint64_t(0), ~uint64_t(0)};
  Bits mask;
  __builtin_memcpy(&mask, lanes + WIDTH - (count < WIDTH ? count : WIDTH), sizeof mask);
  return mask;
}
inline Vec masked(Vec v, Bits mask) { return (Vec)((Bits)v & mask); }

// Visits a column in order: visit(value vector, weight vector, two accumulator vectors, position).
// Rows past the last full STRIDE are visited with what lies behind them, PADDING, which is not added.
template <class Visit>
inline Moments reduce(const double* z, const double* w, int64_t n, Visit visit) {
  Total first, second;
  for (int64_t begin = 0; begin < n; begin += CHUNK) {
    const int64_t end = begin + CHUNK < n ? begin + CHUNK : n;
    const int64_t full = begin + (end - begin) / STRIDE * STRIDE;
    Vec a[LANES] = {}, b[LANES] = {};
    for (int64_t i = begin; i < full; i += STRIDE)
      for (int k = 0; k < LANES; ++k) {
        const int64_t at = i + k * WIDTH;
        visit(load(z + at), w ? load(w + at) : Vec{}, a[k], b[k], at);
      }
    Vec ta = {}, tb = {};
    for (int64_t i = full; i < end; i += WIDTH) {
      const Bits here = first_lanes(end - i);
      Vec pa = {}, pb = {};
      visit(load(z + i), w ? load(w + i) : Vec{}, pa, pb, i);
      ta += masked(pa, here);
      tb += masked(pb, here);
    }
    first.add(a, (ta[0] + ta[1]) + (ta[2] + ta[3]));
    second.add(b, (tb[0] + tb[1]) + (tb[2] + tb[3]));
  }
  return {first.value(), second.value()};
}

template <bool WEIGHTED>
Moments sum_of(const double* z, const double* w, int64_t n, double unit, double origin) {
  return reduce(z, WEIGHTED ? w : nullptr, n, [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t) {
    v = v * unit - origin;
    const Vec amount = WEIGHTED ? v * weight : v;
    a += amount;
    b += amount * v;
  });
}

bool finite(const double* z, int64_t n) {
  Vec first = {}, second = {};  // x - x is 0, or NaN where x is not finite
  int64_t i = 0;
  for (; i + 2 * WIDTH <= n; i += 2 * WIDTH) {
    const Vec u = load(z + i), v = load(z + i + WIDTH);
    first += u - u;
    second += v - v;
  }
  double rest = 0.0;
  for (; i < n; ++i) rest += z[i] - z[i];
  first += second;
  return first[0] + first[1] + first[2] + first[3] + rest == 0.0;
}

// ---- sketching ------------------------------------------------------------------------------

inline bool any(Bits b) { return (b[0] | b[1] | b[2] | b[3]) != 0; }

// p + start lies between 2^B and 2^(B+1), B = 52 - fraction_bits, so its mantissa is the word, rounded
// to the nearest; one less where that was above p. Anything outside the window has other upper bits.
// With a unit below 1, a negative value may be so small that p is 0: it still is left of 0.
template <bool SMALL_UNIT>
struct Locator {
  double unit, start;
  Vec origin;  // the number whose word is 0
  explicit Locator(const Window& w)
      : unit(w.unit),
        start(double(int64_t(1) << (52 - w.fraction_bits)) - w.first),
        origin(all(double(int64_t(1) << (52 - w.fraction_bits)))) {}
  Bits operator()(Vec v) const {
    Vec p = v * unit;
    if (SMALL_UNIT) p = (v < 0.0) & (p == 0.0) ? all(-0x1p-1000) : p;
    const Vec near = p + start;
    return (Bits)near - (Bits)origin + (Bits)(near - start > p);
  }
};

template <bool SMALL_UNIT>
bool locate_in(const double* x, int64_t n, const Window& window, uint64_t* words, Range& range) {
  const Locator<SMALL_UNIT> locator(window);
  Vec low[2] = {all(range.low), all(range.low)}, high[2] = {all(range.high), all(range.high)};
  Bits seen[2] = {};
  const auto take = [&](int64_t i, int k) {
    const Vec v = load(x + i);
    const Bits word = locator(v);
    __builtin_memcpy(words + i, &word, sizeof word);
    seen[k] |= word;
    low[k] = v < low[k] ? v : low[k];
    high[k] = v > high[k] ? v : high[k];
  };
  int64_t i = 0;
  for (; i + 2 * WIDTH <= n; i += 2 * WIDTH) {
    take(i, 0);
    take(i + WIDTH, 1);
  }
  for (; i < n; ++i) {  // in all lanes the same value
    const Vec v = all(x[i]);
    const Bits word = locator(v);
    words[i] = word[0];
    seen[0] |= word;
    low[0] = v < low[0] ? v : low[0];
    high[0] = v > high[0] ? v : high[0];
  }
  for (int k = 0; k < 2 * WIDTH; ++k) {
    const double lower = low[k / WIDTH][k % WIDTH], upper = high[k / WIDTH][k % WIDTH];
    range.low = lower < range.low ? lower : range.low;
    range.high = upper > range.high ? upper : range.high;
  }
  return !any((seen[0] | seen[1]) >> COUNT_SHIFT);
}

bool locate(const double* x, int64_t n, const Window& window, uint64_t* words, Range& range) {
  return window.unit < 1.0 ? locate_in<true>(x, n, window, words, range)
                           : locate_in<false>(x, n, window, words, range);
}

int64_t count(const uint64_t* words, int64_t n, int fraction_bits, uint64_t* cells) {
  const uint64_t one = uint64_t(1) << COUNT_SHIFT, fraction = (uint64_t(1) << fraction_bits) - 1;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t sum = cells[words[i] >> fraction_bits] += (words[i] & fraction) + one;
    if (__builtin_expect((int64_t)sum < 0, 0)) return i;
  }
  return n;
}

void transpose(const double* from, int64_t row_stride, int rows, int columns, double* to,
               int64_t gap) {
  int i = 0;
  for (; i + WIDTH <= rows; i += WIDTH) {
    const double* row[WIDTH];
    for (int k = 0; k < WIDTH; ++k) row[k] = from + (i + k) * row_stride;
    int c = 0;
    for (; c + WIDTH <= columns; c += WIDTH) {
      const Vec a = load(row[0] + c), b = load(row[1] + c);
      const Vec d = load(row[2] + c), e = load(row[3] + c);
      const Vec ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
      const Vec ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      const Vec de = __builtin_shufflevector(d, e, 0, 4, 2, 6);
      const Vec ed = __builtin_shufflevector(d, e, 1, 5, 3, 7);
      double* out = to + c * gap + i;
      store(out, __builtin_shufflevector(ab, de, 0, 1, 4, 5));
      store(out + gap, __builtin_shufflevector(ba, ed, 0, 1, 4, 5));
      store(out + 2 * gap, __builtin_shufflevector(ab, de, 2, 3, 6, 7));
      store(out + 3 * gap, __builtin_shufflevector(ba, ed, 2, 3, 6, 7));
    }
    for (; c < columns; ++c)
      for (int k = 0; k < WIDTH; ++k) to[c * gap + i + k] = row[k][c];
  }
  for (; i < rows; ++i)
    for (int c = 0; c < columns; ++c) to[c * gap + i] = from[i * row_stride + c];
}

Range range(const double* z, int64_t n) {
  Vec low[LANES], high[LANES];
  for (int k = 0; k < LANES; ++k) low[k] = high[k] = all(z[0]);
  int64_t i = 0;
  for (; i + STRIDE <= n; i += STRIDE)
    for (int k = 0; k < LANES; ++k) {
      const Vec v = load(z + i + k * WIDTH);
      low[k] = v < low[k] ? v : low[k];
      high[k] = v > high[k] ? v : high[k];
    }
  Range r = {z[0], z[0]};
  const auto widen = [&r](double lower, double upper) {
    r.low = lower < r.low ? lower : r.low;
    r.high = upper > r.high ? upper : r.high;
  };
  for (int k = 0; k < STRIDE; ++k) widen(low[k / WIDTH][k % WIDTH], high[k / WIDTH][k % WIDTH]);
  for (; i < n; ++i) widen(z[i], z[i]);
  return r;
}

// v is a centred value; its magnitude is what the next level starts from.
template <bool WEIGHTED>
inline Vec collect(Vec v, Vec weight, Vec& a, Vec& b) {
  const Vec size = magnitude(v), amount = WEIGHTED ? size * weight : size;
  a += amount;
  b += WEIGHTED ? amount * size : v * v;  // v * v need not wait for the magnitude
  return size;
}

template <bool WEIGHTED>
Moments centre(double* z, const double* w, int64_t n, double unit, double mean) {
  return reduce(z, WEIGHTED ? w : nullptr, n, [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t at) {
    store(z + at, collect<WEIGHTED>(v * unit - mean, weight, a, b));
  });
}

template <bool WEIGHTED>
Moments centre_again(double* z, const double* w, int64_t n, double m) {
  return reduce(z, WEIGHTED ? w : nullptr, n, [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t at) {
    store(z + at, collect<WEIGHTED>(minus(v, m), weight, a, b));
  });
}

template <class F, bool WEIGHTED>
double fold_other(double* z, double* gain, const double* w, int64_t n, double mean, double inv,
                  double gain_inv) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [=](Vec v, Vec weight, Vec& a, Vec&, int64_t at) {
                  const Vec y = clamp((v - mean) * inv);
                  Vec slope = F::slope(y);
                  slope = (slope > LEAST_SLOPE ? slope : all(LEAST_SLOPE)) * gain_inv;
                  store(gain + at, load(gain + at) * slope);
                  v = F::value(y);
                  store(z + at, v);
                  a += WEIGHTED ? v * weight : v;
                })
      .magnitude;
}

template <bool WEIGHTED>
Moments spread(const double* z, const double* gain, const double* w, int64_t n, double mean) {
  const double square =
      reduce(z, WEIGHTED ? w : nullptr, n, [=](Vec v, Vec weight, Vec&, Vec& b, int64_t) {
        v = v - mean;
        b += WEIGHTED ? v * v * weight : v * v;
      }).square;
  double largest = 0.0;
  for (int64_t i = 0; i < n; ++i) largest = gain[i] > largest ? gain[i] : largest;
  return {largest, square};
}

// Each loop exists with and without weights; the choice is made once per call.
Moments any_sum(const double* z, const double* w, int64_t n, double unit, double origin) {
  return w ? sum_of<true>(z, w, n, unit, origin) : sum_of<false>(z, w, n, unit, origin);
}
Moments any_centre(double* z, const double* w, int64_t n, double unit, double mean) {
  return w ? centre<true>(z, w, n, unit, mean) : centre<false>(z, w, n, unit, mean);
}
Moments any_centre_again(double* z, const double* w, int64_t n, double m) {
  return w ? centre_again<true>(z, w, n, m) : centre_again<false>(z, w, n, m);
}
template <class F>
double any_fold(double* z, double* gain, const double* w, int64_t n, double mean, double inv,
                double gain_inv) {
  return w ? fold_other<F, true>(z, gain, w, n, mean, inv, gain_inv)
           : fold_other<F, false>(z, gain, w, n, mean, inv, gain_inv);
}
Moments any_spread(const double* z, const double* gain, const double* w, int64_t n, double mean) {
  return w ? spread<true>(z, gain, w, n, mean) : spread<false>(z, gain, w, n, mean);
}

}  // namespace

#define FOR_EACH_CHAIN(f)        \
  {f<AbsChain>,                  \
   f<StandardizedChain<Sqr>>,    \
   f<StandardizedChain<CosAbs>>, \
   f<StandardizedChain<Cos>>,    \
   f<StandardizedChain<Sin>>,    \
   f<StandardizedChain<Tanh>>}

extern const Loops loops = {
    FOR_EACH_CHAIN(last),
    FOR_EACH_CHAIN(path),
    FOR_EACH_CHAIN(trace),
    FOR_EACH_CHAIN(path_squares),
    finite,
    locate,
    count,
    transpose,
    range,
    any_sum,
    any_centre,
    any_centre_again,
    {nullptr, any_fold<Sqr>, any_fold<CosAbs>, any_fold<Cos>, any_fold<Sin>, any_fold<Tanh>},
    any_spread,
};

}  // namespace REFOLD_ISA
}  // namespace refold
