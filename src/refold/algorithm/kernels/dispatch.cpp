#include <cstdlib>
#include <cstring>

#include "loops.hpp"

namespace refold {
namespace {

bool use_avx2() {
#ifdef REFOLD_HAS_AVX2
  const char* wanted = std::getenv("REFOLD_ISA");
  if (wanted && std::strcmp(wanted, "baseline") == 0) return false;
  __builtin_cpu_init();  // needed where this runs before other constructors
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

const bool avx2_chosen = use_avx2();

}  // namespace

const Loops& loops() {
#ifdef REFOLD_HAS_AVX2
  if (avx2_chosen) return avx2::loops;
#endif
  return baseline::loops;
}

const char* instruction_set() { return avx2_chosen ? "avx2" : "baseline"; }

}  // namespace refold
