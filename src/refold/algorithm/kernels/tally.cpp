#include "tally.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace refold {
namespace {

// Positions x / 2^exponent stay below 2^50, where their fraction still has bits.
constexpr int64_t POSITION_BITS = 50;
constexpr int64_t SMALLEST_EXPONENT = -1000;  // its reciprocal is still a finite number
constexpr double INFINITE = std::numeric_limits<double>::infinity();
// A sum of 2^11 fractions needs 11 bits more than a fraction, and has COUNT_SHIFT bits.
constexpr int MOST_FRACTION_BITS = COUNT_SHIFT - 11;

double scaled(double x, int64_t exponent) { return std::ldexp(x, int(-exponent)); }
// A negative value so small that it becomes 0 in these units is still left of 0.
double floor_of(double x, double place) {
  return place == 0.0 && x < 0.0 ? -1.0 : std::floor(place);
}
int64_t bin_of(double x, int64_t exponent) { return int64_t(floor_of(x, scaled(x, exponent))); }

int64_t shifted(int64_t bin, int64_t by) { return bin >> std::min<int64_t>(by, 62); }

}  // namespace

int Tally::fraction_bits_of(int64_t n_bins) {
  int bits = MOST_FRACTION_BITS;
  while (int64_t(1) << (COUNT_SHIFT - bits) < n_bins) --bits;
  return bits;
}

// Cells are bits in memory of doubles that nobody reads as doubles.
Tally::Tally(int64_t n_bins, double* lent, double* shared)
    : n_bins_(n_bins),
      size_(size_of(n_bins)),
      cells_(reinterpret_cast<uint64_t*>(lent)),
      doubles_(lent + size_),
      spare_(shared),
      few_(lent + 3 * size_) {
  static_assert(sizeof(uint64_t) == sizeof(double) && alignof(uint64_t) == alignof(double));
  window_.fraction_bits = fraction_bits_of(n_bins);
  clear();
}

void Tally::clear() {
  counting_ = doubles_used_ = false;
  n_few_ = 0;
  few_weights_.clear();
  rows_ = 0;
  missing_ = 0.0;
  low_ = INFINITE;
  high_ = -INFINITE;
}

void Tally::add(const double* x, const double* w, int64_t n, int64_t first, int64_t column,
                Problem& problem) {
  for (int64_t i = 0; i < n; i += TILE) {
    const int count = int(std::min<int64_t>(TILE, n - i));
    if (!w && add_quickly(x + i, count)) continue;
    const int kept = clean(x + i, w ? w + i : nullptr, count, first + i, column, problem);
    keep_or_count(clean_->x, w ? clean_->w : nullptr, kept);
  }
}

// Nothing is missing and the range has not grown: true of nearly all tiles.
bool Tally::add_quickly(const double* x, int n) {
  if (!counting_) return false;
  Range range{low_, high_};
  if (!loops().locate(x, n, window_, words_, range) || range.low < low_ || range.high > high_)
    return false;
  rows_ += n;
  count_words(n);
  return true;
}

void Tally::count_words(int n) {
  const int bits = window_.fraction_bits;
  for (int64_t i = 0; (i += loops().count(words_ + i, n - i, bits, cells_)) < n; ++i)
    move_to_doubles(int64_t(words_[i] >> bits));
}

int Tally::clean(const double* x, const double* w, int n, int64_t row, int64_t column,
                 Problem& problem) {
  if (!clean_) clean_ = std::make_unique<Clean>();
  int kept = 0;
  for (int i = 0; i < n; ++i) {
    const double weight = w ? w[i] : 1.0;
    const bool is_number = x[i] - x[i] == 0.0;
    clean_->x[kept] = x[i];
    clean_->w[kept] = weight;
    kept += is_number && weight > 0.0;
    missing_ += is_number ? 0.0 : weight;
  }
  if (kept < n)
    for (int i = 0; i < n; ++i)
      if (std::isinf(x[i])) problem.note(Problem::INFINITE, row + i, column);
  return kept;
}

void Tally::keep_or_count(const double* x, const double* w, int n) {
  if (n == 0) return;
  const bool are_few = !counting_ && rows_ + n <= n_bins_;
  rows_ += n;
  if (are_few) {
    const Range range = loops().range(x, n);
    low_ = std::min(low_, range.low);
    high_ = std::max(high_, range.high);
    if (w) few_weights_.resize(n_few_, 1.0);  // rows without weights may have come before
    std::copy_n(x, n, few_ + n_few_);
    n_few_ += n;
    if (w) few_weights_.insert(few_weights_.end(), w, w + n);
    else if (!few_weights_.empty()) few_weights_.resize(n_few_, 1.0);
    return;
  }
  for (int64_t i = 0; i < n_few_; i += TILE)
    count(few_ + i, few_weights_.empty() ? nullptr : few_weights_.data() + i,
          int(std::min<int64_t>(TILE, n_few_ - i)));
  n_few_ = 0;
  few_weights_.clear();
  count(x, w, n);
}

void Tally::count(const double* x, const double* w, int n) {
  make_room(loops().range(x, n));
  Range range{low_, high_};
  if (!loops().locate(x, n, window_, words_, range))
    throw std::logic_error("a value lies outside the bins that were made for it");
  if (!w) return count_words(n);
  use_doubles();
  const int bits = window_.fraction_bits;
  const uint64_t fraction = (uint64_t(1) << bits) - 1;
  const double width = fraction_unit();
  for (int i = 0; i < n; ++i) {
    double* cell = doubles_ + 2 * (words_[i] >> bits);
    cell[0] += w[i];
    cell[1] += w[i] * (double(words_[i] & fraction) * width);
  }
}

void Tally::make_room(Range range) {
  if (counting_ && range.low >= low_ && range.high <= high_) return;
  low_ = std::min(low_, range.low);
  high_ = std::max(high_, range.high);
  const int64_t exponent = least_exponent(low_, high_, n_bins_);
  const int64_t begin = bin_of(low_, exponent), end = bin_of(high_, exponent) + 1;
  const bool fits = counting_ && exponent == exponent_ && begin >= first_ && end <= first_ + size_;
  if (!fits) move(exponent, begin - (size_ - (end - begin)) / 2);  // room on both sides
}

// The same counts in bins of 2^exponent, the first cell being bin `first`.
void Tally::move(int64_t exponent, int64_t first) {
  if (counting_) {
    use_doubles();
    for (int64_t b = 0; b < size_; ++b)
      if (cells_[b] != 0) move_to_doubles(b);
    const int64_t by = exponent - exponent_;
    const double factor = scaled(1.0, by);
    for (int64_t b = 0; b < size_; ++b) {
      const double* old = doubles_ + 2 * b;
      if (old[0] == 0.0) continue;
      const int64_t bin = first_ + b, wider = shifted(bin, by);
      const double left = double(bin) * factor - double(wider);  // the old edge in the new bin
      double* cell = spare_ + 2 * (wider - first);
      cell[0] += old[0];
      cell[1] += old[1] * factor + old[0] * left;
    }
    std::copy_n(spare_, 2 * size_, doubles_);
    std::fill_n(spare_, 2 * size_, 0.0);
  }
  if (!counting_) std::fill_n(cells_, size_, 0);
  counting_ = true;
  exponent_ = exponent;
  first_ = first;
  window_.unit = scaled(1.0, exponent);
  window_.first = double(first);
}

void Tally::use_doubles() {
  if (!doubles_used_) std::fill_n(doubles_, 2 * size_, 0.0);
  doubles_used_ = true;
}

void Tally::move_to_doubles(int64_t b) {
  use_doubles();
  const Cell here = cell(b);
  doubles_[2 * b] = here.weight;
  doubles_[2 * b + 1] = here.position;
  cells_[b] = 0;
}

Tally::Cell Tally::cell(int64_t b) const {
  const uint64_t packed = cells_[b], sum = packed & ((uint64_t(1) << COUNT_SHIFT) - 1);
  const Cell before = doubles_used_ ? Cell{doubles_[2 * b], doubles_[2 * b + 1]} : Cell{0.0, 0.0};
  return {before.weight + double(packed >> COUNT_SHIFT),
          before.position + double(sum) * fraction_unit()};
}

Histogram Tally::histogram() const {
  Histogram out;
  out.missing = missing_;
  out.rows = rows_;
  if (rows_ == 0) return out;
  out.low = low_;
  out.high = high_;
  counting_ ? read_cells(out) : read_few(out);
  return out;
}

void Tally::read_cells(Histogram& out) const {
  out.exponent = exponent_;
  const int64_t begin = bin_of(low_, exponent_), end = bin_of(high_, exponent_) + 1;
  int64_t used = 0;
  for (int64_t bin = begin; bin < end; ++bin) used += cell(bin - first_).weight > 0.0;
  out.reserve(used);
  for (int64_t bin = begin; bin < end; ++bin) {
    const Cell here = cell(bin - first_);
    if (here.weight > 0.0) out.put(bin, here.weight, here.position);
  }
}

// A bin for every value, as far as doubles can tell them apart.
void Tally::read_few(Histogram& out) const {
  struct Row {
    int64_t bin;
    double weight, place;
  };
  out.exponent = least_exponent(low_, high_, ANY_NUMBER_OF_BINS);
  std::vector<Row> rows(n_few_);
  for (int64_t i = 0; i < n_few_; ++i) {
    const double place = scaled(few_[i], out.exponent), floor = floor_of(few_[i], place);
    const double weight = few_weights_.empty() ? 1.0 : few_weights_[i];
    rows[i] = {int64_t(floor), weight, weight * (place - floor)};
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.bin < b.bin; });
  for (const Row& row : rows) {
    if (out.bins.empty() || out.bins.back() != row.bin) out.put(row.bin, 0.0, 0.0);
    out.counts.back() += row.weight;
    out.positions.back() += row.place;
  }
}

int64_t least_exponent(double low, double high, int64_t n_bins) {
  const double largest = std::max(std::fabs(low), std::fabs(high));
  int resolution = 0, width = 0;
  std::frexp(largest, &resolution);
  int64_t exponent = largest > 0.0 ? resolution - POSITION_BITS : SMALLEST_EXPONENT;
  // high - low may overflow; its halves do not.
  std::frexp((high / 2 - low / 2) / double(n_bins), &width);
  if (high > low) exponent = std::max<int64_t>(exponent, width - 1);
  exponent = std::max(exponent, SMALLEST_EXPONENT);
  while (bin_of(high, exponent) - bin_of(low, exponent) >= n_bins) ++exponent;
  return exponent;
}

}  // namespace refold
