// Memory for columns of doubles.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "loops.hpp"

namespace refold {

// Doubles that are not cleared first. They begin at a cache line: a vector that lies across two of
// them takes twice as long to read or write. Many of them ask for large pages: memory that is new to
// the process comes page by page, and 4 KB at a time that takes longer than reading a table.
class Doubles {
 public:
  explicit Doubles(int64_t n = 0) {
    const size_t bytes = size_t(n) * sizeof(double);
    const std::align_val_t align = bytes < LARGE_PAGE ? LINE : std::align_val_t{LARGE_PAGE};
    memory_ = Pointer(static_cast<double*>(operator new[](bytes, align)), Free{align});
#ifdef __linux__
    if (bytes >= LARGE_PAGE) madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // or without
#endif
  }
  double* data() { return memory_.get(); }
  const double* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t LINE{64};
  static constexpr size_t LARGE_PAGE = size_t(2) << 20;
  struct Free {
    std::align_val_t align;
    void operator()(double* p) const { operator delete[](p, align); }
  };
  using Pointer = std::unique_ptr<double[], Free>;
  Pointer memory_{nullptr, Free{LINE}};
};

// A column's doubles and the PADDING behind them: its own, kept from one column to the next, or lent.
class Buffer {
 public:
  static int64_t needed(int64_t n) { return (n + PADDING + 7) / 8 * 8; }  // whole cache lines

  double* data() { return data_; }
  void reserve(int64_t n) {
    if (n <= size_) return;
    own_ = Doubles(needed(n));
    lend(own_.data(), n);
  }
  void lend(double* memory, int64_t n) {
    data_ = memory;
    size_ = n;
  }
  void pad(int64_t n) { std::fill_n(data() + n, PADDING, 0.0); }  // behind the first n

 private:
  Doubles own_;
  double* data_ = nullptr;
  int64_t size_ = -1;
};

}  // namespace refold
