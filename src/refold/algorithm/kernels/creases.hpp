// How rows become features along creases, and what they score: standardized, bent, projected, folded,
// and judged by a quadratic form. A few rows at a time, each by itself: no sum has terms of two rows,
// and none depends on how many rows there are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "products.hpp"
#include "table.hpp"

namespace refold {

// Piecewise linear maps, one per column: knots and heights of column c are from starts[c] to
// starts[c + 1]; beyond them it goes on with slopes[c].
struct Bends {
  const double *knots, *heights, *slopes;
  const int64_t* starts;
  double at(int64_t column, double x) const;
};

Doubles cleared(int64_t n);  // zeros

// (x - center) / scale within ±largest; NaN stays.
double standardized(double x, double center, double scale, double largest);

// The arrays of refold.models.creased.Creases. Those of the last half of the creases are along the
// bent columns, if there are bends; the columns that do not vary make one more feature, if at all.
struct CreaseArrays {
  int64_t columns, varying, creases, levels;
  const double *center, *scale;
  const int64_t* which;  // of the columns vary
  const double *directions, *offsets, *shifts, *slopes, *precision;
  Bends bends;
  bool bent, constants;
  double largest;
};

// Creases in panels, ready to be multiplied by. A panel holds creases of one kind and level: the last
// of a kind is filled up with zeros.
class CreaseMap {
 public:
  explicit CreaseMap(const CreaseArrays&);
  int64_t columns() const { return a_.columns; }
  int64_t varying() const { return a_.varying; }
  int64_t outputs() const { return a_.creases * a_.levels + (a_.constants ? 1 : 0); }
  int64_t panels() const { return strips_ * a_.levels + (a_.constants ? 1 : 0); }
  // Of each feature among those of all panels; they ascend.
  const std::vector<int64_t>& places() const { return places_; }
  int64_t cost() const { return outputs() * outputs(); }

 private:
  friend class Features;
  friend class Variants;
  CreaseArrays a_;
  int64_t plain_,
      strips_;  // strips of creases: panels of a level, the first ones along plain columns
  Doubles weights_, levels_, zeros_;
  std::vector<int64_t> slot_;  // of each column among the varying ones, -1 if it is constant
  std::vector<int64_t> places_;
  PanelLevels strip(int64_t s) const;
};

// What a gap is filled with: the values that the others of its row lead to expect.
class Filler {
 public:
  Filler(const double* precision, int64_t size) : precision_(precision), size_(size) {}
  void fill(double* row);  // NaN is a gap

 private:
  const double* precision_;
  const int64_t size_;
  std::vector<int64_t> missing_, observed_, known_;  // `known_` are the gaps that root_ is of
  std::vector<double> root_, value_;
  void factor();
};

// A block of rows on their way to features, in panels.
class Features {
 public:
  Features(const CreaseMap&, int64_t capacity);
  // Reads rows of a table and notes what is wrong with them; `z`, if any, are all standardized columns.
  template <class T>
  void read(const Table<T>&, int64_t first, int64_t rows, Problem&, double* z);
  // Writes features minus centers, in panels.
  void fold(const double* centers);
  int64_t rows() const { return rows_; }
  int64_t gap() const { return gap_; }
  double* panels() { return phi_.data(); }
  const CreaseMap& map() const { return map_; }

 private:
  friend class Variants;
  const CreaseMap& map_;
  Filler filler_;
  int64_t gap_, rows_ = 0;
  Doubles z_, bent_, y_, phi_;
  std::vector<double> row_, changed_;
  void put(int64_t r, const double* row);
  void put_constants(const double* centers);
};

// 1/weight + vᵀAv of features v from their center. Primal: ‖Mv‖² with M = L⁻¹, (p, p), or with fewer
// rows, (k, p), of any matrix; and ‖Nw‖² of some features w, N a lower triangle. Dual:
// (‖v‖² - ‖Gv‖²)/ridge with G of (r, p).
class LeverageForm {
 public:
  LeverageForm(const CreaseMap&, const double* center, const double* matrix, int64_t rows,
               double weight, double ridge, bool dual, const std::vector<int64_t>& some,
               const double* some_inverted);
  const double* center() const { return center_.data(); }
  bool fits(const CreaseMap& map) const { return map.panels() == panels_; }
  bool dual() const { return dual_; }

  // What a call works in.
  struct Work {
    Work(const LeverageForm& form, int64_t capacity)
        : y(capacity * PANEL),
          sums(capacity * PANEL),
          across(capacity * PANEL),
          inner(cleared(std::max(form.dual_ ? form.strips_ : 0, form.some_strips()) * capacity *
                        PANEL)) {}
    Doubles y, sums, across, inner;
  };
  // Scores of the rows; and, if `across` is given, 1/weight + vᵀAw with w the first row.
  void scores(const Features&, double* phi, Work&, double* out, double* across) const;

 private:
  int64_t panels_, strips_;  // of the features, of the matrix's rows
  double weight_, ridge_;
  bool dual_, triangular_;
  Doubles center_, matrix_, transposed_, some_matrix_;
  std::vector<int64_t> some_;  // places of some features
  int64_t some_strips() const { return (int64_t(some_.size()) + PANEL - 1) / PANEL; }
  // A strip of the matrix, 16 of its rows: of a triangle what comes up to their end.
  int64_t depth(int64_t s) const { return (triangular_ ? s + 1 : panels_) * PANEL; }
  int64_t begin(int64_t s) const {
    return triangular_ ? triangle_begin(s) : PANEL * PANEL * s * panels_;
  }
  static int64_t triangle_begin(int64_t s) { return PANEL * PANEL * s * (s + 1) / 2; }
};

// One row of each column's box: its ends, its unit, and, in columns where more matters than the ends,
// the values that are known, from starts[c] to starts[c + 1].
struct BoxArrays {
  int64_t columns;
  const double *low, *high, *unit, *known;
  const int64_t *starts, *discrete;
  double excess(int64_t column, double x) const;
};

// Sums of standardized values by which a row is recognised: column after column, gaps count as given.
constexpr int MARKS = 4;
struct MarkWeights {
  int64_t columns;
  const double *weights, *gaps;  // (columns, MARKS) and (columns)
  void mark(const double* z, double* out) const;
};

// Marks of rows that were learned, ascending by the first, and their distances.
struct KnownArrays {
  int64_t rows;
  const double *marks, *distances;
  MarkWeights by;
  double tolerance;
  int64_t find(const double* z) const;  // -1 if it was not learned
};

struct DistanceRecipe {
  const LeverageForm* form;
  const BoxArrays* box;      // or null
  const KnownArrays* known;  // or null
  double typical, unit;
  double gain, most;  // what a column adds one unit outside its box, and how many units count
};

// Each writes a row-major array with one line per row.
template <class T>
void features(const CreaseMap&, const Table<T>&, int n_threads, double* out);
template <class T>
void norms(const CreaseMap&, const Table<T>&, int n_threads, double* out);
template <class T>
Problem leverages(const CreaseMap&, const LeverageForm&, const Table<T>&, int n_threads,
                  double* out);
template <class T>
Problem crease_distances(const CreaseMap&, const DistanceRecipe&, const Table<T>&, int n_threads,
                         double* out);

// Rows without gaps, standardized, and what takes the place of their values; the owner of a column is
// the number of the group that it changes with. Scores of each row and of it without each group,
// (rows, 1 + groups), and what they have in common with the row.
struct VariantArrays {
  int64_t rows, groups;
  const double *z, *instead, *changed;  // changed: (rows, 1 + groups), what constants add
  const int64_t* owners;
};
void variants(const CreaseMap&, const LeverageForm&, const VariantArrays&, int n_threads,
              double* scores, double* across);

// Means and spreads of the folded projections, level by level: shifts and spreads are (levels,
// creases). Offsets are taken off first. Spreads below a share of the size are 0.
struct MeasureArrays {
  int64_t rows, columns, creases, levels;
  const double *rows_of, *directions, *offsets, *weights;
  double least;  // share
};
void measure(const MeasureArrays&, int n_threads, double* shifts, double* spreads);

}  // namespace refold
