// A table as it came in: any strides, float or double, never copied whole.
#pragma once
#include <cstdint>

namespace refold {

template <class T>
struct Table {
  const T* data;
  int64_t rows, columns;
  int64_t row_stride, column_stride;  // in elements
  const T* at(int64_t row, int64_t column) const {
    return data + row * row_stride + column * column_stride;
  }
};

// What is wrong with a table, and where; the smallest row wins, so that the answer does not depend
// on the number of threads.
struct Problem {
  enum Kind : int { NONE, INFINITE, NOTHING_OBSERVED, TOO_LITTLE_WEIGHT, TOO_MUCH_WEIGHT };
  int kind = NONE;
  int64_t row = -1, column = -1;
  void note(int new_kind, int64_t new_row, int64_t new_column) {
    if (kind == NONE || new_row < row || (new_row == row && new_column < column)) {
      kind = new_kind;
      row = new_row;
      column = new_column;
    }
  }
  void note(const Problem& other) {
    if (other.kind != NONE) note(other.kind, other.row, other.column);
  }
};

}  // namespace refold
