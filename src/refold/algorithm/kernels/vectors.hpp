// Vectors of doubles, as wide as the instruction set that a file is compiled for wants them. In an
// unnamed namespace, because every instruction set has its own.
#pragma once
#include <stdint.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

namespace refold {
namespace REFOLD_ISA {
namespace {

// Four doubles are one AVX2 register, two SSE2 or NEON ones.
#ifdef __AVX512F__
constexpr int WIDTH = 8;
#else
constexpr int WIDTH = 4;
#endif
typedef double Vec __attribute__((vector_size(WIDTH * 8)));
typedef uint64_t Bits
    __attribute__((vector_size(WIDTH * 8)));  // differences of any bits are defined

inline Vec load(const double* p) {
  Vec v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, Vec v) { __builtin_memcpy(p, &v, sizeof v); }
inline Vec all(double a) { return a - Vec{}; }
inline Vec magnitude(Vec v) { return (Vec)((Bits)v & ~((Bits)all(-0.0))); }
// a * b + c, rounded once: written out where it is wanted, so that every processor rounds alike. (One
// without the instruction, older than 2013 on x86, gets the C library's slow but equal answer.)
inline Vec fused(Vec a, Vec b, Vec c) {
#if defined(__AVX512F__)
  return (Vec)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__)
  return (Vec)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
  for (int k = 0; k < WIDTH; ++k) c[k] = __builtin_fma(a[k], b[k], c[k]);
  return c;
#endif
}

}  // namespace
}  // namespace REFOLD_ISA
}  // namespace refold
