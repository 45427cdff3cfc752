// One pass over a table: a tally per column, a group of columns at a time.
#include "sketch.hpp"

#include <memory>

#include "tile.hpp"

namespace refold {
namespace {

// With very many bins fewer columns are read together: their tallies take no more memory than this,
// per thread.
constexpr int64_t TALLY_BYTES = int64_t(64) << 20;

template <class T>
class Sketcher {
 public:
  Sketcher(const Table<T>& X, const double* weights, int64_t n_bins, int width)
      : X_(X),
        weights_(weights),
        tile_(width),
        memory_(Tally::shared(n_bins) + width * Tally::needed(n_bins)) {
    double *shared = memory_.data(), *own = shared + Tally::shared(n_bins);
    std::fill(shared, own, 0.0);
    for (int c = 0; c < width; ++c, own += Tally::needed(n_bins))
      tallies_.push_back(std::make_unique<Tally>(n_bins, own, shared));
  }

  void columns(int64_t first, int count, Histogram* out, Problem& problem, Watch& watch) {
    const auto add = [&](int c, const double* x, int64_t begin, int64_t rows) {
      const double* w = weights_ ? weights_ + begin : nullptr;
      tallies_[c]->add(x, w, rows, begin, first + c, problem);
    };
    each_tile(X_, first, count, tile_, watch, add);
    for (int c = 0; c < count; ++c) {
      out[first + c] = tallies_[c]->histogram();
      tallies_[c]->clear();
    }
  }

 private:
  const Table<T>& X_;
  const double* weights_;
  Tile tile_;
  Doubles memory_;
  std::vector<std::unique_ptr<Tally>> tallies_;
};

}  // namespace

template <class T>
Problem sketch(const Table<T>& X, const double* weights, int64_t n_bins, int n_threads,
               std::vector<Histogram>& out) {
  out.resize(X.columns);
  const int64_t fit =
      std::max<int64_t>(1, TALLY_BYTES / (Tally::needed(n_bins) * int64_t(sizeof(double))));
  const auto work = [&](Groups& groups, Problem& problem, Watch& watch) {
    Sketcher<T> sketcher(X, weights, n_bins, int(groups.width));
    for (int64_t first; (first = groups.next()) < X.columns;)
      sketcher.columns(first, groups.count(first), out.data(), problem, watch);
  };
  return in_groups(X, std::min(COLUMNS_AT_ONCE, fit), n_threads, work);
}

template Problem sketch(const Table<float>&, const double*, int64_t, int, std::vector<Histogram>&);
template Problem sketch(const Table<double>&, const double*, int64_t, int, std::vector<Histogram>&);

}  // namespace refold
