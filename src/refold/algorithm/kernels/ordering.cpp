#include "ordering.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "threads.hpp"

namespace refold {
namespace {

constexpr uint64_t SIGN = uint64_t(1) << 63;
constexpr int DIGIT_BITS = 8, N_DIGITS = 64 / DIGIT_BITS, RADIX = 1 << DIGIT_BITS;

// Numbers that are ordered as the values are.
uint64_t key_of(double x) {
  uint64_t bits;
  x += 0.0;  // -0 becomes 0
  std::memcpy(&bits, &x, sizeof bits);
  return bits & SIGN ? ~bits : bits | SIGN;
}

double value_of(uint64_t key) {
  const uint64_t bits = key & SIGN ? key ^ SIGN : ~key;
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

struct Numbered {
  uint64_t key;
  int64_t number;
};
uint64_t key_in(uint64_t item) { return item; }
uint64_t key_in(const Numbered& item) { return item.key; }

// Digit by digit from the last; those that are the same everywhere are passed over. What the order of
// random values costs is mostly comparisons that a processor cannot foresee: here there are none.
template <class Item>
void radix_sort(std::vector<Item>& items, std::vector<Item>& spare) {
  const auto digit = [](const Item& item, int d) {
    return (key_in(item) >> (d * DIGIT_BITS)) & (RADIX - 1);
  };
  int64_t counts[N_DIGITS][RADIX] = {};
  for (const Item& item : items)
    for (int d = 0; d < N_DIGITS; ++d) ++counts[d][digit(item, d)];
  spare.resize(items.size());
  for (int d = 0; d < N_DIGITS; ++d) {
    if (items.empty() || counts[d][digit(items[0], d)] == int64_t(items.size())) continue;
    int64_t place = 0;
    for (int64_t& count : counts[d]) place += std::exchange(count, place);
    for (const Item& item : items) spare[counts[d][digit(item, d)]++] = item;
    items.swap(spare);
  }
}

struct Occurrence {
  double value, weight;
  int64_t row;
};

CountedValues in_columns(const std::vector<Occurrence>& counted) {
  CountedValues out;
  for (const Occurrence& each : counted) {
    out.values.push_back(each.value);
    out.weights.push_back(each.weight);
    out.rows.push_back(each.row);
  }
  return out;
}

// Different values as long as they are few, found by their bits.
class Distinct {
 public:
  explicit Distinct(int64_t most) : most_(most) {
    while (int64_t(1) << bits_ < 4 * most) ++bits_;
    slots_.assign(size_t(1) << bits_, -1);
  }

  bool add(const Occurrence& one) {  // false if they are no longer few
    const uint64_t key = key_of(one.value);
    uint64_t slot = key * 0x9E3779B97F4A7C15u >> (64 - bits_);
    for (; slots_[slot] >= 0; slot = (slot + 1) & (slots_.size() - 1))
      if (found_[slots_[slot]].value == one.value) {
        found_[slots_[slot]].weight += one.weight;
        return true;
      }
    if (int64_t(found_.size()) == most_) return false;
    slots_[slot] = int64_t(found_.size());
    found_.push_back(one);
    return true;
  }

  CountedValues ascending() {
    std::sort(found_.begin(), found_.end(),
              [](const Occurrence& a, const Occurrence& b) { return a.value < b.value; });
    return in_columns(found_);
  }

 private:
  int64_t most_;
  int bits_ = 2;
  std::vector<int64_t> slots_;
  std::vector<Occurrence> found_;
};

// The outermost different values on one side, the outermost first.
template <bool HIGH>
class Outermost {
 public:
  explicit Outermost(int64_t depth) : depth_(depth) {}

  void add(const Occurrence& one) {
    if (further(limit_, one.value)) return;
    size_t at = found_.size();
    while (at > 0 && further(one.value, found_[at - 1].value)) --at;
    if (at > 0 && found_[at - 1].value == one.value) {
      found_[at - 1].weight += one.weight;
      return;
    }
    found_.insert(found_.begin() + at, one);
    if (int64_t(found_.size()) > depth_) found_.pop_back();
    if (int64_t(found_.size()) == depth_) limit_ = found_.back().value;
  }

  CountedValues ascending() {
    if (HIGH) std::reverse(found_.begin(), found_.end());
    return in_columns(found_);
  }

 private:
  static bool further(double a, double b) { return HIGH ? a > b : a < b; }

  int64_t depth_;
  double limit_ = (HIGH ? -1 : 1) * std::numeric_limits<double>::infinity();
  std::vector<Occurrence> found_;
};

// Visits what counts until told to stop; whether it was never told.
template <class Visit>
bool each_counted(const double* x, const double* weights, const int64_t* rows, int64_t n,
                  Visit visit) {
  for (int64_t i = 0; i < n; ++i)
    if (x[i] == x[i] && weights[i] > 0.0 && !visit(Occurrence{x[i], weights[i], rows[i]}))
      return false;
  return true;
}

}  // namespace

void stable_order(const double* x, int64_t n, int64_t* order) {
  std::vector<Numbered> items(n), spare;
  for (int64_t i = 0; i < n; ++i) items[i] = {key_of(x[i]), i};
  radix_sort(items, spare);
  for (int64_t i = 0; i < n; ++i) order[i] = items[i].number;
}

template <class T>
void quantiles(const Table<T>& X, const int64_t* rows, int64_t n_rows, int64_t count, int n_threads,
               double* out) {
  std::atomic<int64_t> next{0};
  on_threads(int(std::min<int64_t>(n_threads, X.columns)), [&](int, Watch& watch) {
    std::vector<uint64_t> keys, spare;
    for (int64_t c; (c = next.fetch_add(1)) < X.columns;) {
      keys.clear();
      for (int64_t i = 0; i < n_rows; ++i) {
        const double x = *X.at(rows[i], c);
        if (x == x) keys.push_back(key_of(x));
      }
      radix_sort(keys, spare);
      const int64_t n = int64_t(keys.size());
      for (int64_t k = 0; k < count; ++k) {
        const int64_t rank = (k * n + count - 2) / (count - 1);  // so many at or below, rounded up
        out[k * X.columns + c] = n == 0 ? std::numeric_limits<double>::quiet_NaN()
                                        : value_of(keys[std::max<int64_t>(rank - 1, 0)]);
      }
      watch.did(n_rows * N_DIGITS);
    }
  });
}

ColumnEdge edge_of(const double* x, const double* weights, const int64_t* rows, int64_t n,
                   int64_t depth, int64_t most) {
  Distinct few(most);
  if (each_counted(x, weights, rows, n, [&](const Occurrence& one) { return few.add(one); }))
    return {true, few.ascending(), {}, {}};
  Outermost<false> low(depth);
  Outermost<true> high(depth);
  each_counted(x, weights, rows, n, [&](const Occurrence& one) {
    low.add(one);
    high.add(one);
    return true;
  });
  return {false, {}, low.ascending(), high.ascending()};
}

template void quantiles(const Table<float>&, const int64_t*, int64_t, int64_t, int, double*);
template void quantiles(const Table<double>&, const int64_t*, int64_t, int64_t, int, double*);

}  // namespace refold
