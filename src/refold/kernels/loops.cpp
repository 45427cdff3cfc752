// Compiled once per instruction set into the namespace REFOLD_ISA. Nothing from the standard library
// that is inline may be used here: the linker could keep the copy that needs AVX2 for everybody.
#include "loops.hpp"

#include <math.h>

namespace refold {
namespace REFOLD_ISA {
namespace {

// Four doubles: one AVX2 register, two SSE2 or NEON ones. The lanes are the same everywhere, and so
// are the bits of every sum.
typedef double Vec __attribute__((vector_size(32)));
typedef int64_t Bits __attribute__((vector_size(32)));
constexpr int WIDTH = 4;
constexpr int LANES = 4;  // accumulators of a sum: enough to hide the latency of an addition
constexpr int64_t STRIDE = WIDTH * LANES;
constexpr int64_t CHUNK = 4096;  // sums are carried over in twice the precision after so many rows

inline Vec load(const double* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vec all(double a) { return Vec{a, a, a, a}; }
inline Vec magnitude(Vec v) { return (Vec)((Bits)v & ~((Bits)all(-0.0))); }
inline double magnitude(double v) { return __builtin_fabs(v); }
inline Vec clamp(Vec v) {
  v = v < LARGEST ? v : all(LARGEST);
  return v > -LARGEST ? v : all(-LARGEST);
}
inline double clamp(double v) {
  v = v < LARGEST ? v : LARGEST;
  return v > -LARGEST ? v : -LARGEST;
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
  static Vec read_magnitude(Vec v, double factor) { return magnitude(v) * factor; }
};

template <class F>
struct StandardizedChain {
  static Vec first(Vec v, double factor) { return clamp(v * factor); }
  static Vec step(Vec v, double shift, double factor) {
    return clamp((F::value(v) - shift) * factor);
  }
  static Vec read(Vec v, double) { return v; }
  static Vec read_magnitude(Vec v, double) { return magnitude(v); }
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
    rows.v[k] = Chain::first((load(x + k * WIDTH) - f.offset) * f.unit, f.factor[0]);
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

// Values and sums of 24 rows fit the registers; of 48 they would not.
template <class Chain>
void path(const Feature& f, const double* x, const double* observed, int n_iter, Sink sink,
          double* out) {
  constexpr int N = BLOCK / WIDTH / 2;
  const double kept = n_iter - f.levels + 1;  // the last level stands for all that were not folded
  const double share = 1.0 / n_iter;
  for (int half = 0; half < 2; ++half) {
    const int at = half * N * WIDTH;
    auto rows = enter<Chain, N>(f, x + at);
    Rows<N> sum = {};
    for (int j = 1; j < f.levels; ++j) {
      const double shift = f.shift[j], factor = f.factor[j], before = f.factor[j - 1];
      for (int k = 0; k < N; ++k) {
        sum.v[k] += Chain::read_magnitude(rows.v[k], before);
        rows.v[k] = Chain::step(rows.v[k], shift, factor);
      }
    }
    for (int k = 0; k < N; ++k) {
      const Vec end = Chain::read_magnitude(rows.v[k], f.factor[f.levels - 1]);
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

// Visits a column in order: visit(value vector, weight vector, two accumulator vectors, position).
// Rows past the last full STRIDE are visited as one vector with the other lanes zero.
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
        visit(load(z + at), w ? load(w + at) : Vec{}, a[k], b[k], at, WIDTH);
      }
    Vec ta = {}, tb = {};
    for (int64_t i = full; i < end; i += WIDTH) {
      const int count = end - i < WIDTH ? (int)(end - i) : WIDTH;
      Vec v = {}, weight = {}, pa = {}, pb = {};
      for (int k = 0; k < count; ++k) {
        v[k] = z[i + k];
        if (w) weight[k] = w[i + k];
      }
      visit(v, weight, pa, pb, i, count);
      for (int k = 0; k < count; ++k) {
        ta[k] += pa[k];
        tb[k] += pb[k];
      }
    }
    first.add(a, (ta[0] + ta[1]) + (ta[2] + ta[3]));
    second.add(b, (tb[0] + tb[1]) + (tb[2] + tb[3]));
  }
  return {first.value(), second.value()};
}

inline void put(double* z, int64_t at, int count, Vec v) {
  if (count == WIDTH) store(z + at, v);
  else
    for (int k = 0; k < count; ++k) z[at + k] = v[k];
}

template <bool WEIGHTED>
double sum_of(const double* z, const double* w, int64_t n) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [](Vec v, Vec weight, Vec& a, Vec&, int64_t, int) {
                  a += WEIGHTED ? v * weight : v;
                })
      .magnitude;
}

template <bool WEIGHTED>
inline void collect(Vec v, Vec weight, Vec& a, Vec& b) {
  if (WEIGHTED) {
    a += magnitude(v) * weight;
    b += v * v * weight;
  } else {
    a += magnitude(v);
    b += v * v;
  }
}

template <bool WEIGHTED>
Moments centre(double* z, const double* w, int64_t n, double mean) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t at, int count) {
                  v = v - mean;
                  put(z, at, count, v);
                  collect<WEIGHTED>(v, weight, a, b);
                });
}

template <bool WEIGHTED>
Moments fold_once(const double* z, const double* w, int64_t n, double m1) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t, int) {
                  collect<WEIGHTED>(magnitude(v) - m1, weight, a, b);
                });
}

template <bool WEIGHTED>
Moments fold_twice(double* z, const double* w, int64_t n, double m1, double m2) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [=](Vec v, Vec weight, Vec& a, Vec& b, int64_t at, int count) {
                  v = magnitude(magnitude(v) - m1) - m2;
                  put(z, at, count, v);
                  collect<WEIGHTED>(v, weight, a, b);
                });
}

template <class F, bool WEIGHTED>
double fold_other(double* z, double* gain, const double* w, int64_t n, double mean, double inv,
                  double gain_inv) {
  return reduce(z, WEIGHTED ? w : nullptr, n,
                [=](Vec v, Vec weight, Vec& a, Vec&, int64_t at, int count) {
                  const Vec y = clamp((v - mean) * inv);
                  const Vec slope = F::slope(y) * gain_inv;
                  for (int k = 0; k < count; ++k) gain[at + k] *= slope[k];
                  v = F::value(y);
                  put(z, at, count, v);
                  a += WEIGHTED ? v * weight : v;
                })
      .magnitude;
}

template <bool WEIGHTED>
Moments spread(const double* z, const double* gain, const double* w, int64_t n, double mean) {
  const double square =
      reduce(z, WEIGHTED ? w : nullptr, n,
             [=](Vec v, Vec weight, Vec&, Vec& b, int64_t, int) {
               v = v - mean;
               b += WEIGHTED ? v * v * weight : v * v;
             })
          .square;
  double largest = 0.0;
  for (int64_t i = 0; i < n; ++i) largest = gain[i] > largest ? gain[i] : largest;
  return {largest, square};
}

// Each loop exists with and without weights; the choice is made once per call.
double any_sum(const double* z, const double* w, int64_t n) {
  return w ? sum_of<true>(z, w, n) : sum_of<false>(z, w, n);
}
Moments any_centre(double* z, const double* w, int64_t n, double mean) {
  return w ? centre<true>(z, w, n, mean) : centre<false>(z, w, n, mean);
}
Moments any_fold_once(const double* z, const double* w, int64_t n, double m1) {
  return w ? fold_once<true>(z, w, n, m1) : fold_once<false>(z, w, n, m1);
}
Moments any_fold_twice(double* z, const double* w, int64_t n, double m1, double m2) {
  return w ? fold_twice<true>(z, w, n, m1, m2) : fold_twice<false>(z, w, n, m1, m2);
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

#define FOR_EACH_CHAIN(f)                                                             \
  {f<AbsChain>,                f<StandardizedChain<Sqr>>, f<StandardizedChain<CosAbs>>, \
   f<StandardizedChain<Cos>>, f<StandardizedChain<Sin>>, f<StandardizedChain<Tanh>>}

extern const Loops loops = {
    FOR_EACH_CHAIN(last),
    FOR_EACH_CHAIN(path),
    FOR_EACH_CHAIN(trace),
    FOR_EACH_CHAIN(path_squares),
    any_sum,
    any_centre,
    any_fold_once,
    any_fold_twice,
    {nullptr, any_fold<Sqr>, any_fold<CosAbs>, any_fold<Cos>, any_fold<Sin>, any_fold<Tanh>},
    any_spread,
};

}  // namespace REFOLD_ISA
}  // namespace refold
