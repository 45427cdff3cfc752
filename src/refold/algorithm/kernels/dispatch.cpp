#include <cstdlib>
#include <cstring>

#include "loops.hpp"
#include "products.hpp"

namespace refold {
namespace {

enum Isa { BASELINE, AVX2, AVX512 };
constexpr const char* NAMES[] = {"baseline", "avx2", "avx512"};

Isa best() {
#ifdef REFOLD_HAS_X86
  __builtin_cpu_init();  // needed where this runs before other constructors
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return __builtin_cpu_supports("avx512f") ? AVX512 : AVX2;
#endif
  return BASELINE;
}

// No better one than the environment variable names.
Isa choose() {
  const char* wanted = std::getenv("REFOLD_ISA");
  const Isa most = best();
  for (int isa = BASELINE; wanted && isa < most; ++isa)
    if (std::strcmp(wanted, NAMES[isa]) == 0) return Isa(isa);
  return most;
}

const Isa chosen = choose();

}  // namespace

const Loops& loops() {
#ifdef REFOLD_HAS_X86
  if (chosen >= AVX2) return avx2::loops;
#endif
  return baseline::loops;
}

const Products& products() {
#ifdef REFOLD_HAS_X86
  if (chosen == AVX512) return avx512::products;
  if (chosen == AVX2) return avx2::products;
#endif
  return baseline::products;
}

const char* instruction_set() { return NAMES[chosen]; }

}  // namespace refold
