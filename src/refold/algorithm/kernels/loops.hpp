// The inner loops, one table of functions per instruction set.
#pragma once
#include <cstdint>

namespace refold {

constexpr int N_FOLDS = 6;
enum Fold : int { ABS, SQR, COS_ABS, COS, SIN, TANH };
constexpr const char* FOLD_NAMES[N_FOLDS] = {"abs", "sqr", "cos-abs", "cos", "sin", "tanh"};

// More levels than anyone has time for; a block's sums of all of them are counted in an int.
constexpr int MOST_LEVELS = 1 << 24;

// Rows that are scored together: 48 doubles stay in twelve AVX2 registers through all levels.
constexpr int BLOCK = 48;

// Doubles behind a column's values (weights, gains) that belong to nobody.
constexpr int PADDING = 4;

// Larger magnitudes saturate here, so that a square still is a finite number.
constexpr double LARGEST = 1e150;

// A smaller slope of a fold is that of a rounding error around an extremum; as zero it would let
// noise decide how many levels a discrete feature gets.
constexpr double LEAST_SLOPE = 0x1p-26;

// One feature's learned numbers as scoring uses them (see FoldChain.steps).
struct Feature {
  double unit, offset;   // x * unit - offset; the unit is a power of two
  const double* shift;   // per level; shift[0] is not used
  const double* factor;  // per level: abs reads a value with it, the others standardize with it
  int levels;            // levels that this feature uses
};

// What happens with a block's values after the last level.
enum Sink : int { STORE, ADD_MAGNITUDE, ADD_SQUARE };

// Sums over a column: of the magnitudes (or values) and of the squares.
struct Moments {
  double magnitude;
  double square;
};

struct Range {
  double low, high;
};

// Where values lie in a window of 2^(52 - fraction_bits) bins of width 1/unit that begins at bin
// `first`: a word holds the bin's number in the window and, below it, the place within the bin as a
// fraction of fraction_bits bits.
struct Window {
  double unit, first;
  int fraction_bits;
};

// A bin's rows in 64 bits: their number in the upper 12, the sum of their fractions below. A bin with
// 2^11 rows is moved to two doubles, the number and the sum of the places, which have room for more.
constexpr int COUNT_SHIFT = 52;

// In all of these x and out are BLOCK doubles, `observed` is BLOCK ones and zeros or null (all ones),
// and w is null or a weight per row.
struct Loops {
  // Scoring: the value after the last level; the mean magnitude over n_iter levels (a feature that
  // has stopped keeps its last); every level's magnitude or square added to sums[n_iter][BLOCK];
  // the sum over levels of y^2 * weight[n_iter][BLOCK].
  void (*last[N_FOLDS])(const Feature&, const double* x, const double* observed, Sink, double* out);
  void (*path[N_FOLDS])(const Feature&, const double* x, const double* observed, int n_iter, Sink,
                        double* out);
  void (*trace[N_FOLDS])(const Feature&, const double* x, const double* observed, int n_iter, Sink,
                         double* sums);
  void (*path_squares[N_FOLDS])(const Feature&, const double* x, const double* observed, int n_iter,
                                const double* weight, double* out);

  bool (*finite)(const double* z, int64_t n);

  // Sketching: a word per value; false if a value is not finite or not in the window. Then the words
  // mean nothing; the range is that of the values that are numbers.
  bool (*locate)(const double* x, int64_t n, const Window&, uint64_t* words, Range&);
  // Counts words up to the first whose bin has 2^11 rows then: its number, n if there is none.
  int64_t (*count)(const uint64_t* words, int64_t n, int fraction_bits, uint64_t* cells);
  // Rows of a table, side by side in memory, to columns that are `gap` doubles apart.
  void (*transpose)(const double* from, int64_t row_stride, int rows, int columns, double* to,
                    int64_t gap);

  // Learning, on one column of n values. The PADDING behind is read and written too.
  Range (*range)(const double* z, int64_t n);
  // The sums of v = z * unit - origin (not of magnitudes) and of its squares.
  Moments (*sum)(const double* z, const double* w, int64_t n, double unit, double origin);
  // z becomes |v|, v = z * unit - mean; the moments of v.
  Moments (*centre)(double* z, const double* w, int64_t n, double unit, double mean);
  // The same of magnitudes a, which become |a - m|: one more abs level.
  Moments (*centre_again)(double* a, const double* w, int64_t n, double m);
  // Other folds: z = fold(y), y = (z - mean) * inv; gain *= |fold'(y)| * gain_inv; the sum of z.
  double (*fold[N_FOLDS])(double* z, double* gain, const double* w, int64_t n, double mean,
                          double inv, double gain_inv);
  // The sum of (z - mean)^2 and the largest gain.
  Moments (*spread)(const double* z, const double* gain, const double* w, int64_t n, double mean);
};

namespace baseline {
extern const Loops loops;
}
namespace avx2 {
extern const Loops loops;
}

// The best set this processor has, or the one that the environment variable REFOLD_ISA names.
const Loops& loops();
const char* instruction_set();

}  // namespace refold
