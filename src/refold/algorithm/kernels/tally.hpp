// One feature's histogram, growing with the rows it is given.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "loops.hpp"
#include "table.hpp"

namespace refold {

// Bin b begins at b * 2^exponent. Only bins with rows are here, ascending: the weight of their rows,
// and the sum of the rows' weighted places within the bin, 0 at its left edge, 1 at its right.
struct Histogram {
  int64_t exponent = 0, rows = 0;
  double low = 0.0, high = 0.0, missing = 0.0;
  std::vector<int64_t> bins;
  std::vector<double> counts, positions;
  void reserve(int64_t n) {
    bins.reserve(n);
    counts.reserve(n);
    positions.reserve(n);
  }
  void put(int64_t bin, double count, double position) {
    bins.push_back(bin);
    counts.push_back(count);
    positions.push_back(position);
  }
};

// Fewer than two never hold a range on both sides of zero; more take too much memory.
constexpr int64_t LEAST_BINS = 16, MOST_BINS = int64_t(1) << 24;
// As long as there are no more rows than bins, the bins are as narrow as doubles allow.
constexpr int64_t ANY_NUMBER_OF_BINS = int64_t(1) << 62;

class Tally {
 public:
  // Doubles that a tally works in, and those that many of them share.
  static int64_t needed(int64_t n_bins) { return 4 * size_of(n_bins); }
  static int64_t shared(int64_t n_bins) { return 2 * size_of(n_bins); }
  // Both are lent and must last as long as the tally does; the shared ones are zeros.
  Tally(int64_t n_bins, double* lent, double* shared);
  // Counts rows first, first + 1, … of a column; w is null or a weight per row.
  void add(const double* x, const double* w, int64_t n, int64_t first, int64_t column, Problem&);
  Histogram histogram() const;
  void clear();

 private:
  // Rows that are located and then counted: they stay in the first-level cache.
  static constexpr int TILE = 1024;
  // The same values without those that are missing or weigh nothing.
  struct Clean {
    double x[TILE], w[TILE];
  };
  struct Cell {
    double weight, position;
  };

  static int fraction_bits_of(int64_t n_bins);
  static int64_t size_of(int64_t n_bins) {
    return int64_t(1) << (COUNT_SHIFT - fraction_bits_of(n_bins));
  }

  bool add_quickly(const double* x, int n);
  void count_words(int n);
  int clean(const double* x, const double* w, int n, int64_t row, int64_t column, Problem&);
  void keep_or_count(const double* x, const double* w, int n);
  void count(const double* x, const double* w, int n);
  void make_room(Range range);
  void move(int64_t exponent, int64_t first);
  void use_doubles();
  void move_to_doubles(int64_t b);
  Cell cell(int64_t b) const;
  double fraction_unit() const { return 1.0 / double(int64_t(1) << window_.fraction_bits); }
  void read_cells(Histogram& out) const;
  void read_few(Histogram& out) const;

  int64_t n_bins_, size_;  // how many bins may be used, and how many cells there are
  Window window_;
  uint64_t* cells_;
  double *doubles_, *spare_;  // two for each bin, from when a bin is full
  bool counting_ = false, doubles_used_ = false;
  // The first rows wait until there are more of them than bins.
  double* few_;
  int64_t n_few_ = 0;
  std::vector<double> few_weights_;
  int64_t exponent_ = 0, first_ = 0, rows_ = 0;
  double low_, high_, missing_ = 0.0;
  std::unique_ptr<Clean> clean_;
  uint64_t words_[TILE];
};

// The smallest exponent (low <= high, at least 2 bins) whose bins hold low … high in at most n_bins, not finer than doubles are.
int64_t least_exponent(double low, double high, int64_t n_bins);

}  // namespace refold
