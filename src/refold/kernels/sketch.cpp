// One pass over a table: a tally per column, a group of columns at a time.
#include "sketch.hpp"

#include <memory>

#include "tile.hpp"

namespace refold {
namespace {

template <class T>
class Sketcher {
 public:
  Sketcher(const Table<T>& X, const double* weights, int64_t n_bins, int width)
      : X_(X), weights_(weights), tile_(std::make_unique<Tile>()) {
    for (int c = 0; c < width; ++c) tallies_.push_back(std::make_unique<Tally>(n_bins));
  }

  void columns(int64_t first, int count, Histogram* out, Problem& problem) {
    each_tile(X_, first, count, *tile_, [&](int c, const double* x, int64_t begin, int64_t rows) {
      const double* w = weights_ ? weights_ + begin : nullptr;
      tallies_[c]->add(x, w, rows, begin, first + c, problem);
    });
    for (int c = 0; c < count; ++c) {
      out[first + c] = tallies_[c]->histogram();
      tallies_[c]->clear();
    }
  }

 private:
  const Table<T>& X_;
  const double* weights_;
  std::unique_ptr<Tile> tile_;
  std::vector<std::unique_ptr<Tally>> tallies_;
};

}  // namespace

template <class T>
Problem sketch(const Table<T>& X, const double* weights, int64_t n_bins, int n_threads,
               std::vector<Histogram>& out) {
  out.resize(X.columns);
  return in_groups(X, n_threads, [&](Groups& groups, Problem& problem) {
    Sketcher<T> sketcher(X, weights, n_bins, int(groups.width));
    for (int64_t first; (first = groups.next()) < X.columns;)
      sketcher.columns(first, groups.count(first), out.data(), problem);
  });
}

template Problem sketch(const Table<float>&, const double*, int64_t, int, std::vector<Histogram>&);
template Problem sketch(const Table<double>&, const double*, int64_t, int, std::vector<Histogram>&);

}  // namespace refold
