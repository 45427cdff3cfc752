#include "creases.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "threads.hpp"

namespace refold {
namespace {

int64_t panels_of(int64_t n) { return (n + PANEL - 1) / PANEL; }

double added_up(const double* lanes) {
  double part[PANEL];
  std::copy_n(lanes, PANEL, part);
  for (int half = PANEL / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) part[k] += part[k + half];
  return part[0];
}

// Runs work(features, first row, problem) on every block of rows, a contiguous share of them per
// thread; `begin` makes what a thread works with.
template <class Begin>
Problem in_blocks(const CreaseMap& map, int64_t rows, int n_threads, Begin begin) {
  const int64_t at_once = std::min<int64_t>(ROWS_AT_ONCE, std::max<int64_t>(rows, 1));
  const int64_t blocks = (rows + at_once - 1) / at_once;
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, blocks)));
  std::vector<Problem> problems(n_threads);
  on_threads(n_threads, [&](int t, Watch& watch) {
    auto work = begin(at_once);
    Features features(map, at_once);
    Problem mine;
    for (int64_t b = blocks * t / n_threads; b < blocks * (t + 1) / n_threads; ++b) {
      const int64_t first = b * at_once, some = std::min(at_once, rows - first);
      work(features, first, some, mine);
      watch.did(some * (map.cost() / PANEL + 1));
    }
    problems[t] = mine;
  });
  Problem problem;
  for (const Problem& p : problems) problem.note(p);
  return problem;
}

}  // namespace

Doubles cleared(int64_t n) {
  Doubles made(n);
  std::fill_n(made.data(), n, 0.0);
  return made;
}

// ---- columns --------------------------------------------------------------------------------

double standardized(double x, double center, double scale, double largest) {
  double z = (x - center) / scale;
  if (std::isinf(z))  // x - center may be too large a number where z is not
    z = (x / 2.0 - center / 2.0) / (scale / 2.0);
  z = z < -largest ? -largest : z;
  return z > largest ? largest : z;
}

// As numpy.interp has it between the ends.
double Bends::at(int64_t column, double x) const {
  const int64_t n = starts[column + 1] - starts[column];
  const double *x_of = knots + starts[column], *y_of = heights + starts[column];
  const double inside = std::clamp(x, x_of[0], x_of[n - 1]);
  const double* base = x_of;  // the last knot that is not above; without branches that are guessed
  for (int64_t left = n; left > 1;) {
    const int64_t half = left / 2;
    base += base[half] <= inside ? half : 0;
    left -= half;
  }
  const int64_t j = base - x_of;
  double y = y_of[j];
  if (j + 1 < n && inside != x_of[j])  // a slope between neighbours may be infinite
    y += (y_of[j + 1] - y_of[j]) / (x_of[j + 1] - x_of[j]) * (inside - x_of[j]);
  return y + slopes[column] * (x - inside);
}

// Solves P[m,m] x = -P[m,o] z[o], as for a normal distribution with the precision P, by the square
// root U of P[m,m] = UᵀU. Rows that have the same gaps follow each other often.
void Filler::fill(double* row) {
  missing_.clear();
  observed_.clear();
  for (int64_t c = 0; c < size_; ++c) (row[c] == row[c] ? observed_ : missing_).push_back(c);
  const int64_t m = int64_t(missing_.size());
  if (missing_ != known_) factor();
  value_.assign(m, 0.0);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t o : observed_) value_[i] -= precision_[missing_[i] * size_ + o] * row[o];
  for (int64_t i = 0; i < m; ++i) {
    value_[i] /= root_[i * m + i];
    for (int64_t k = i + 1; k < m; ++k) value_[k] -= root_[i * m + k] * value_[i];
  }
  for (int64_t i = m - 1; i >= 0; --i) {
    for (int64_t k = i + 1; k < m; ++k) value_[i] -= root_[i * m + k] * value_[k];
    value_[i] /= root_[i * m + i];
    row[missing_[i]] = value_[i];
  }
}

void Filler::factor() {
  const int64_t m = int64_t(missing_.size());
  known_ = missing_;
  root_.resize(m * m);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t k = i; k < m; ++k)
      root_[i * m + k] = precision_[missing_[i] * size_ + missing_[k]];
  for (int64_t i = 0; i < m; ++i) {
    double* own = &root_[i * m];
    // It is positive but for rounding.
    const double least = 1e-16 * precision_[missing_[i] * size_ + missing_[i]];
    own[i] = std::sqrt(std::max(own[i], least));
    for (int64_t k = i + 1; k < m; ++k) own[k] /= own[i];
    for (int64_t j = i + 1; j < m; ++j)
      for (int64_t k = j; k < m; ++k) root_[j * m + k] -= own[j] * own[k];
  }
}

// ---- features -------------------------------------------------------------------------------

CreaseMap::CreaseMap(const CreaseArrays& arrays) : a_(arrays), slot_(arrays.columns, -1) {
  plain_ = a_.bent ? a_.creases - a_.creases / 2 : a_.creases;
  strips_ = panels_of(plain_) + panels_of(a_.creases - plain_);
  for (int64_t k = 0; k < a_.varying; ++k) slot_[a_.which[k]] = k;
  const int64_t width = strips_ * PANEL;
  for (int64_t j = 0; j < a_.levels; ++j)
    for (int64_t c = 0; c < a_.creases; ++c)
      places_.push_back(j * width + (c < plain_ ? c : panels_of(plain_) * PANEL + c - plain_));
  if (a_.constants) places_.push_back(a_.levels * width);
  weights_ = cleared(strips_ * a_.varying * PANEL);
  levels_ = cleared((1 + 2 * a_.levels) * width);
  zeros_ = cleared(panels() * PANEL);
  for (int64_t c = 0; c < a_.creases; ++c) {
    const int64_t at = places_[c], s = at / PANEL, lane = at % PANEL;
    for (int64_t k = 0; k < a_.varying; ++k)
      weights_.data()[(s * a_.varying + k) * PANEL + lane] = a_.directions[c * a_.varying + k];
    levels_.data()[at] = a_.offsets[c];
    for (int64_t j = 0; j < a_.levels; ++j) {
      levels_.data()[(1 + j) * width + at] = a_.shifts[j * a_.creases + c];
      levels_.data()[(1 + a_.levels + j) * width + at] = a_.slopes[j * a_.creases + c];
    }
  }
}

PanelLevels CreaseMap::strip(int64_t s) const {
  const int64_t width = strips_ * PANEL;
  const double* at = levels_.data() + s * PANEL;
  return {at, at + width, at + (1 + a_.levels) * width, a_.levels, width};
}

Features::Features(const CreaseMap& map, int64_t capacity)
    : map_(map),
      filler_(map.a_.precision, map.a_.varying),
      gap_(capacity * PANEL),
      z_(panels_of(map.a_.varying) * gap_),
      bent_(map.a_.bent ? panels_of(map.a_.varying) * gap_ : 0),
      y_(gap_),
      phi_(cleared(map.panels() * gap_)),
      row_(map.a_.varying),
      changed_(capacity) {}

template <class T>
void Features::read(const Table<T>& X, int64_t first, int64_t rows, Problem& problem, double* z) {
  const CreaseArrays& a = map_.a_;
  rows_ = rows;
  for (int64_t r = 0; r < rows; ++r) {
    bool gaps = false, anything = false;
    double constants = 0.0;
    for (int64_t c = 0; c < a.columns; ++c) {
      const double x = *X.at(first + r, c);
      if (std::isinf(x)) problem.note(Problem::INFINITE, first + r, c);
      const double value = standardized(x, a.center[c], a.scale[c], a.largest);
      const bool here = value == value;
      anything |= here;
      if (z) z[r * a.columns + c] = value;
      const int64_t slot = map_.slot_[c];
      if (slot >= 0) {
        gaps |= !here;
        row_[slot] = value;
      } else if (here) {
        constants += std::fabs(value);
      }
    }
    if (!anything) problem.note(Problem::NOTHING_OBSERVED, first + r, -1);
    if (gaps) filler_.fill(row_.data());
    changed_[r] = constants / double(a.columns);
    put(r, row_.data());
  }
}

void Features::put(int64_t r, const double* row) {
  const CreaseArrays& a = map_.a_;
  for (int64_t k = 0; k < a.varying; ++k) {
    const int64_t at = k / PANEL * gap_ + r * PANEL + k % PANEL;
    z_.data()[at] = row[k];
    if (a.bent) bent_.data()[at] = a.bends.at(k, row[k]);
  }
}

void Features::fold(const double* centers) {
  const int64_t plain = panels_of(map_.plain_), v = map_.a_.varying, strips = map_.strips_;
  for (int64_t s = 0; s < strips; ++s) {
    products().multiply(s < plain ? z_.data() : bent_.data(), gap_, rows_,
                        map_.weights_.data() + s * v * PANEL, v, y_.data());
    products().fold(y_.data(), rows_, map_.strip(s),
                    (centers ? centers : map_.zeros_.data()) + s * PANEL, phi_.data() + s * gap_,
                    strips * gap_);
  }
  put_constants(centers);
}

void Features::put_constants(const double* centers) {
  if (!map_.a_.constants) return;
  const int64_t last = map_.panels() - 1;
  for (int64_t r = 0; r < rows_; ++r)
    phi_.data()[last * gap_ + r * PANEL] = changed_[r] - (centers ? centers[last * PANEL] : 0.0);
}

// ---- the quadratic form ---------------------------------------------------------------------

LeverageForm::LeverageForm(const CreaseMap& map, const double* center, const double* matrix,
                           int64_t rows, double weight, double ridge, bool dual,
                           const std::vector<int64_t>& some, const double* some_inverted)
    : panels_(map.panels()),
      weight_(weight),
      ridge_(ridge),
      dual_(dual),
      triangular_(!dual && rows == map.outputs()) {
  const int64_t p = map.outputs();
  const std::vector<int64_t>& places = map.places();
  strips_ = triangular_ ? panels_ : panels_of(rows);
  center_ = cleared(panels_ * PANEL);
  for (int64_t i = 0; i < p; ++i) center_.data()[places[i]] = center[i];
  matrix_ = cleared(begin(strips_));
  transposed_ = cleared(dual ? begin(strips_) : 0);
  for (int64_t i = 0; i < rows; ++i) {
    // The rows of a triangle end where their own feature is.
    const int64_t at = triangular_ ? places[i] : i, width = triangular_ ? i + 1 : p;
    double* strip = matrix_.data() + begin(at / PANEL) + at % PANEL;
    for (int64_t k = 0; k < width; ++k) {
      const int64_t place = places[k];
      strip[place * PANEL] = matrix[i * p + k];
      if (dual)
        transposed_.data()[(place / PANEL * strips_ * PANEL + i) * PANEL + place % PANEL] =
            matrix[i * p + k];
    }
  }
  const int64_t m = int64_t(some.size());
  for (int64_t i : some) some_.push_back(places[i]);
  some_matrix_ = cleared(triangle_begin(some_strips()));
  for (int64_t i = 0; i < m; ++i) {
    double* strip = some_matrix_.data() + triangle_begin(i / PANEL) + i % PANEL;
    for (int64_t k = 0; k <= i; ++k) strip[k * PANEL] = some_inverted[i * m + k];
  }
}

void LeverageForm::scores(const Features& features, double* phi, Work& work, double* out,
                          double* across) const {
  const int64_t rows = features.rows(), gap = features.gap(), n = rows * PANEL;
  double *y = work.y.data(), *sums = work.sums.data(), *common = work.across.data();
  std::fill_n(sums, n, 0.0);
  std::fill_n(common, n, 0.0);
  // left · right of each row, and the first row's left · right; lane by lane.
  const auto add = [&](const double* left, const double* right) {
    for (int64_t i = 0; i < n; ++i) sums[i] += left[i] * right[i];
    if (across)
      for (int64_t i = 0; i < n; ++i) common[i] += left[i % PANEL] * right[i];
  };
  if (dual_) {
    double* inner = work.inner.data();
    for (int64_t s = 0; s < strips_; ++s)
      products().multiply(phi, gap, rows, matrix_.data() + begin(s), depth(s), inner + s * gap);
    for (int64_t s = 0; s < panels_; ++s) {
      products().multiply(inner, gap, rows, transposed_.data() + s * strips_ * PANEL * PANEL,
                          strips_ * PANEL, y);
      // v · (v - GᵀGv) loses fewer digits than a difference of two.
      const double* v = phi + s * gap;
      for (int64_t i = 0; i < n; ++i) y[i] = v[i] - y[i];
      add(v, y);
    }
  } else {
    for (int64_t s = 0; s < strips_; ++s) {
      products().multiply(phi, gap, rows, matrix_.data() + begin(s), depth(s), y);
      add(y, y);
    }
    double* chosen = work.inner.data();
    for (size_t i = 0; i < some_.size(); ++i) {
      const double* from = phi + some_[i] / PANEL * gap + some_[i] % PANEL;
      double* to = chosen + i / PANEL * gap + i % PANEL;
      for (int64_t r = 0; r < rows; ++r) to[r * PANEL] = from[r * PANEL];
    }
    for (int64_t s = 0; s < some_strips(); ++s) {
      products().multiply(chosen, gap, rows, some_matrix_.data() + triangle_begin(s),
                          (s + 1) * PANEL, y);
      add(y, y);
    }
  }
  const double scale = dual_ ? ridge_ : 1.0;
  for (int64_t r = 0; r < rows; ++r) {
    out[r] = 1.0 / weight_ + std::max(added_up(sums + r * PANEL), 0.0) / scale;
    if (across) across[r] = 1.0 / weight_ + added_up(common + r * PANEL) / scale;
  }
}

// ---- box and known rows -----------------------------------------------------------------------

double BoxArrays::excess(int64_t c, double x) const {
  if (x != x) return 0.0;  // NaN is in no box
  double away = std::max(low[c] - x, x - high[c]);
  const double *begin = known + starts[c], *end = known + starts[c + 1];
  if (begin != end && (discrete[c] || away > 0.0)) {
    const double* above = std::lower_bound(begin, end, x);
    const double to_next = std::fabs((above == end ? end[-1] : *above) - x);
    away = std::min(std::fabs(x - (above == begin ? *begin : above[-1])), to_next);
  }
  away = std::max(away, 0.0) / unit[c];
  return std::isfinite(away) ? away : std::numeric_limits<double>::max();
}

void MarkWeights::mark(const double* z, double* out) const {
  std::fill_n(out, MARKS, 0.0);
  for (int64_t c = 0; c < columns; ++c) {
    const double value = z[c] == z[c] ? z[c] : gaps[c];
    for (int k = 0; k < MARKS; ++k) out[k] += value * weights[c * MARKS + k];
  }
}

int64_t KnownArrays::find(const double* z) const {
  double mark[MARKS];
  by.mark(z, mark);
  int64_t first = 0;
  for (int64_t left = rows; left > 0;) {  // the first that is not below
    const int64_t half = left / 2;
    const bool below = marks[(first + half) * MARKS] < mark[0] - tolerance;
    first = below ? first + half + 1 : first;
    left = below ? left - half - 1 : half;
  }
  for (int64_t i = first; i < rows && marks[i * MARKS] <= mark[0] + tolerance; ++i) {
    double off = 0.0;
    for (int k = 0; k < MARKS; ++k) off = std::max(off, std::fabs(marks[i * MARKS + k] - mark[k]));
    if (off <= tolerance) return i;
  }
  return -1;
}

// ---- many rows --------------------------------------------------------------------------------

template <class T>
void features(const CreaseMap& map, const Table<T>& X, int n_threads, double* out) {
  const int64_t p = map.outputs();
  in_blocks(map, X.rows, n_threads, [&](int64_t) {
    return [&](Features& rows, int64_t first, int64_t some, Problem& problem) {
      rows.read(X, first, some, problem, nullptr);
      rows.fold(nullptr);
      for (int64_t r = 0; r < some; ++r)
        for (int64_t i = 0; i < p; ++i) {
          const int64_t at = map.places()[i];
          out[(first + r) * p + i] =
              rows.panels()[at / PANEL * rows.gap() + r * PANEL + at % PANEL];
        }
    };
  });
}

template <class T>
void norms(const CreaseMap& map, const Table<T>& X, int n_threads, double* out) {
  in_blocks(map, X.rows, n_threads, [&](int64_t at_once) {
    return [&, sums = std::vector<double>(at_once * PANEL)](
               Features& rows, int64_t first, int64_t some, Problem& problem) mutable {
      rows.read(X, first, some, problem, nullptr);
      rows.fold(nullptr);
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t s = 0; s < map.panels(); ++s) {
        const double* phi = rows.panels() + s * rows.gap();
        for (int64_t i = 0; i < some * PANEL; ++i) sums[i] += phi[i] * phi[i];
      }
      for (int64_t r = 0; r < some; ++r) out[first + r] = added_up(&sums[r * PANEL]);
    };
  });
}

template <class T>
Problem leverages(const CreaseMap& map, const LeverageForm& form, const Table<T>& X, int n_threads,
                  double* out) {
  return in_blocks(map, X.rows, n_threads, [&](int64_t at_once) {
    return [&, work = LeverageForm::Work(form, at_once)](Features& rows, int64_t first,
                                                         int64_t some, Problem& problem) mutable {
      rows.read(X, first, some, problem, nullptr);
      rows.fold(form.center());
      form.scores(rows, rows.panels(), work, out + first, nullptr);
    };
  });
}

template <class T>
Problem crease_distances(const CreaseMap& map, const DistanceRecipe& how, const Table<T>& X,
                         int n_threads, double* out) {
  const int64_t d = map.columns();
  return in_blocks(map, X.rows, n_threads, [&](int64_t at_once) {
    return [&, work = LeverageForm::Work(*how.form, at_once), z = std::vector<double>(at_once * d)](
               Features& rows, int64_t first, int64_t some, Problem& problem) mutable {
      rows.read(X, first, some, problem, z.data());
      rows.fold(how.form->center());
      how.form->scores(rows, rows.panels(), work, out + first, nullptr);
      for (int64_t r = 0; r < some; ++r) {
        const int64_t same = how.known ? how.known->find(&z[r * d]) : -1;
        double& score = out[first + r];
        if (same >= 0) {
          score = how.known->distances[same];
          continue;
        }
        double outside = 0.0;
        for (int64_t c = 0; how.box && c < d; ++c) {
          const double excess = std::min(how.box->excess(c, *X.at(first + r, c)), how.most);
          outside += how.gain * (excess * excess);
        }
        score = (score / how.typical + outside) / how.unit;
      }
    };
  });
}

// ---- a row without some of its values -----------------------------------------------------------

// The rows of one block: a row itself, and it with the values of a group replaced, group by group.
class Variants {
 public:
  Variants(const CreaseMap& map, const LeverageForm& form, const VariantArrays& a, int64_t at_once)
      : map_(map),
        form_(form),
        a_(a),
        at_once_(at_once),
        features_(map, at_once),
        work_(form, at_once),
        steps_(2 * map.varying()),
        members_(a.groups),
        found_(2 * at_once) {
    for (int64_t k = 0; k < map.varying(); ++k)
      if (a.owners[k] >= 0) members_[a.owners[k]].push_back(k);
  }

  void row(int64_t i, double* scores, double* across) {
    const int64_t v = map_.varying();
    const double *z = a_.z + i * v, *instead = a_.instead + i * v;
    for (int64_t k = 0; k < v; ++k) {
      steps_[k] = z[k] - instead[k];
      if (map_.a_.bent) steps_[v + k] = map_.a_.bends.at(k, z[k]) - map_.a_.bends.at(k, instead[k]);
    }
    const double* changed = a_.changed + i * (1 + a_.groups);
    for (int64_t first = 0; first < a_.groups || first == 0; first += at_once_ - 1) {
      const int64_t groups = std::min(at_once_ - 1, a_.groups - first);
      features_.rows_ = 1;
      features_.put(0, z);
      fold(first, groups);
      features_.rows_ = 1 + groups;
      features_.changed_[0] = changed[0];
      std::copy_n(changed + 1 + first, groups, &features_.changed_[1]);
      features_.put_constants(form_.center());
      form_.scores(features_, features_.panels(), work_, &found_[0], &found_[at_once_]);
      scores[0] = found_[0];
      across[0] = found_[at_once_];
      std::copy_n(&found_[1], groups, scores + 1 + first);
      std::copy_n(&found_[at_once_ + 1], groups, across + 1 + first);
    }
  }

 private:
  const CreaseMap& map_;
  const LeverageForm& form_;
  const VariantArrays& a_;
  const int64_t at_once_;
  Features features_;
  LeverageForm::Work work_;
  std::vector<double> steps_;
  std::vector<std::vector<int64_t>> members_;
  std::vector<double> found_;

  // One value moves all projections along one direction: no product is needed but the first.
  void fold(int64_t first, int64_t groups) {
    const int64_t plain = panels_of(map_.plain_), v = map_.varying(), gap = features_.gap_;
    double* y = features_.y_.data();
    for (int64_t s = 0; s < map_.strips_; ++s) {
      const double* weights = map_.weights_.data() + s * v * PANEL;
      const double* steps = steps_.data() + (s < plain ? 0 : v);
      products().multiply(s < plain ? features_.z_.data() : features_.bent_.data(), gap, 1, weights,
                          v, y);
      for (int64_t g = 0; g < groups; ++g) {
        double* moved = y + (1 + g) * PANEL;
        std::copy_n(y, PANEL, moved);
        for (int64_t k : members_[first + g])
          for (int l = 0; l < PANEL; ++l) moved[l] -= steps[k] * weights[k * PANEL + l];
      }
      products().fold(y, 1 + groups, map_.strip(s), form_.center() + s * PANEL,
                      features_.phi_.data() + s * gap, map_.strips_ * gap);
    }
  }
};

void variants(const CreaseMap& map, const LeverageForm& form, const VariantArrays& a, int n_threads,
              double* scores, double* across) {
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, a.rows)));
  const int64_t at_once = std::min<int64_t>(ROWS_AT_ONCE, 1 + std::max<int64_t>(a.groups, 1));
  on_threads(n_threads, [&](int t, Watch& watch) {
    Variants rows(map, form, a, at_once);
    for (int64_t i = a.rows * t / n_threads; i < a.rows * (t + 1) / n_threads; ++i) {
      rows.row(i, scores + i * (1 + a.groups), across + i * (1 + a.groups));
      watch.did((1 + a.groups) * (map.cost() / PANEL + 1));
    }
  });
}

// ---- learning the levels ------------------------------------------------------------------------

void measure(const MeasureArrays& a, int n_threads, double* shifts, double* spreads) {
  const int64_t strips = panels_of(a.creases), gap = a.rows * PANEL,
                k_panels = panels_of(a.columns);
  n_threads = int(std::max<int64_t>(1, std::min<int64_t>(n_threads, strips)));
  Doubles z(k_panels * gap);
  for (int64_t r = 0; r < a.rows; ++r)
    for (int64_t k = 0; k < a.columns; ++k)
      z.data()[k / PANEL * gap + r * PANEL + k % PANEL] = a.rows_of[r * a.columns + k];
  double total = 0.0;
  for (int64_t r = 0; r < a.rows; ++r) total += a.weights[r];
  std::atomic<int64_t> taken{0};
  on_threads(n_threads, [&](int, Watch& watch) {
    Doubles y(gap), weights(a.columns * PANEL);
    double offset[PANEL], slope[PANEL], sum[PANEL], square[PANEL];
    for (int64_t s; (s = taken.fetch_add(1)) < strips;) {
      const int64_t first = s * PANEL, some = std::min<int64_t>(PANEL, a.creases - first);
      for (int l = 0; l < PANEL; ++l) {
        offset[l] = l < some ? a.offsets[first + l] : 0.0;
        slope[l] = 1.0;
        for (int64_t k = 0; k < a.columns; ++k)
          weights.data()[k * PANEL + l] =
              l < some ? a.directions[(first + l) * a.columns + k] : 0.0;
      }
      products().multiply(z.data(), gap, a.rows, weights.data(), a.columns, y.data());
      for (int64_t j = 0; j < a.levels; ++j) {
        products().magnitudes(y.data(), a.weights, a.rows, offset, slope, sum, square);
        double size[PANEL];
        for (int l = 0; l < PANEL; ++l) {
          size[l] = std::sqrt(square[l] / total);
          sum[l] /= total;
        }
        products().deviations(y.data(), a.weights, a.rows, sum, square);
        for (int l = 0; l < PANEL; ++l) {
          const double spread = std::sqrt(square[l] / (total - 1.0));
          const bool seen = spread > a.least * size[l];
          offset[l] = 0.0;
          slope[l] = seen ? 1.0 / spread : 0.0;
          if (l >= some) continue;
          shifts[j * a.creases + first + l] = sum[l];
          spreads[j * a.creases + first + l] = seen ? spread : 0.0;
        }
        watch.did(gap);
      }
    }
  });
}

#define INSTANTIATE(T)                                                                             \
  template void Features::read(const Table<T>&, int64_t, int64_t, Problem&, double*);              \
  template void features(const CreaseMap&, const Table<T>&, int, double*);                         \
  template void norms(const CreaseMap&, const Table<T>&, int, double*);                            \
  template Problem leverages(const CreaseMap&, const LeverageForm&, const Table<T>&, int,          \
                             double*);                                                             \
  template Problem crease_distances(const CreaseMap&, const DistanceRecipe&, const Table<T>&, int, \
                                    double*);
INSTANTIATE(float)
INSTANTIATE(double)

}  // namespace refold
