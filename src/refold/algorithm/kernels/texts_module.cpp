// Texts, many at a time: what they look like, which characters they have, a hash of each. What is not
// ASCII is left to Python, which knows all alphabets.
#include "texts_module.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "arguments.hpp"

using namespace refold;
using namespace nb::literals;

namespace {

constexpr int64_t ASCII = 128;
constexpr int64_t OTHERS = -1;  // the code of a text that is not ASCII

// The class of each character: the same as refold.columns.encoding.shapes has it.
constexpr std::array<char, ASCII> classes() {
  std::array<char, ASCII> all{};
  for (int c = 0; c < ASCII; ++c) {
    const bool space = c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
    all[c] = c >= '0' && c <= '9'   ? '9'
             : c >= 'A' && c <= 'Z' ? 'A'
             : c >= 'a' && c <= 'z' ? 'a'
             : space                ? ' '
                                    : char(c);
  }
  return all;
}
constexpr std::array<char, ASCII> CLASS = classes();

// The beginning of a text. `whole` owns the bytes of one that has no UTF-8.
struct Text {
  std::string_view bytes;
  nb::object whole;
  bool ascii = true;
};

Text text_at(const nb::list& texts, size_t k, int64_t looked_at) {
  const nb::handle item = texts[k];
  expect(PyUnicode_Check(item.ptr()), "texts must be strings");
  Py_ssize_t size = 0;
  Text text;
  const char* begin = PyUnicode_AsUTF8AndSize(item.ptr(), &size);
  if (!begin) {  // half of a character
    PyErr_Clear();
    text.whole = nb::steal(PyUnicode_AsEncodedString(item.ptr(), "utf-8", "surrogatepass"));
    if (!text.whole.is_valid()) throw nb::python_error();
    char* bytes = nullptr;
    if (PyBytes_AsStringAndSize(text.whole.ptr(), &bytes, &size)) throw nb::python_error();
    begin = bytes;
  }
  text.bytes = std::string_view(begin, size_t(size));
  if (looked_at < 0) return text;
  if (size > looked_at) text.bytes = text.bytes.substr(0, size_t(looked_at));
  text.ascii = std::all_of(text.bytes.begin(), text.bytes.end(),
                           [](char c) { return static_cast<unsigned char>(c) < ASCII; });
  return text;
}

bool runs(char c) { return c == '9' || c == 'A' || c == 'a' || c == ' '; }

void write_shape(std::string_view text, bool collapsed, std::string& shape) {
  shape.clear();
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = CLASS[size_t(text[k])];
    if (collapsed && k && runs(c) && c == CLASS[size_t(text[k - 1])]) {
      if (shape.back() == c) shape.push_back('+');  // the second of a run
    } else {
      shape.push_back(c);
    }
  }
}

nb::list shapes(nb::list texts, bool collapsed, int64_t looked_at, IntegersOut out) {
  expect_between(looked_at, 1, 1 << 20, "looked_at");
  expect(out.shape(0) == texts.size(), "there must be a place for each text");
  int64_t* codes = data(out);
  std::unordered_map<std::string, int64_t> known;
  nb::list found;
  std::string shape, last;
  int64_t last_code = OTHERS;
  for (size_t k = 0; k < texts.size(); ++k) {
    const Text text = text_at(texts, k, looked_at);
    if (!text.ascii) {
      codes[k] = OTHERS;
      continue;
    }
    write_shape(text.bytes, collapsed, shape);
    if (last_code == OTHERS || shape != last) {
      const auto [place, is_new] = known.try_emplace(shape, int64_t(known.size()));
      if (is_new) found.append(nb::str(shape.data(), shape.size()));
      last = shape;
      last_code = place->second;
    }
    codes[k] = last_code;
  }
  return found;
}

// How many rows have each character; the texts that are not ASCII are returned by number.
nb::list characters(nb::list texts, Integers counts, int64_t looked_at, IntegersOut rows_with) {
  expect_between(looked_at, 1, 1 << 20, "looked_at");
  expect(counts.shape(0) == texts.size(), "there must be a count for each text");
  expect(rows_with.shape(0) == size_t(ASCII), "there must be a place for each character");
  const int64_t* rows = data(counts);
  int64_t* out = data(rows_with);
  std::fill(out, out + ASCII, 0);
  nb::list others;
  for (size_t k = 0; k < texts.size(); ++k) {
    const Text text = text_at(texts, k, looked_at);
    if (!text.ascii) {
      others.append(k);
      continue;
    }
    std::array<bool, ASCII> seen{};
    for (const char c : text.bytes) {
      if (!seen[size_t(c)]) out[size_t(c)] += rows[k];
      seen[size_t(c)] = true;
    }
  }
  return others;
}

// How many rows have the rarest character of each text; -1 for texts that are not ASCII.
void rarest(nb::list texts, Integers rows_with, int64_t looked_at, IntegersOut out) {
  expect_between(looked_at, 1, 1 << 20, "looked_at");
  expect(rows_with.shape(0) == size_t(ASCII), "there must be a count for each character");
  expect(out.shape(0) == texts.size(), "there must be a place for each text");
  const int64_t* rows = data(rows_with);
  int64_t* least = data(out);
  for (size_t k = 0; k < texts.size(); ++k) {
    const Text text = text_at(texts, k, looked_at);
    least[k] = !text.ascii ? OTHERS : 0;
    if (text.ascii && !text.bytes.empty()) {
      least[k] = rows[size_t(text.bytes[0])];
      for (const char c : text.bytes) least[k] = std::min(least[k], rows[size_t(c)]);
    }
  }
}

// 64 bits of each text, which depend on its bytes alone: FNV-1a, and a mixer, since the high bits of
// short texts are poor without.
void hashes(nb::list texts, IntegersOut out) {
  expect(out.shape(0) == texts.size(), "there must be a place for each text");
  int64_t* bits = data(out);
  for (size_t k = 0; k < texts.size(); ++k) {
    uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text_at(texts, k, -1).bytes)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    hash = (hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15u;
    bits[k] = int64_t((hash ^ (hash >> 29)) >> 1);  // never negative
  }
}

}  // namespace

void bind_texts(nb::module_& m) {
  m.def("shapes", &shapes, "texts"_a, "collapsed"_a, "looked_at"_a, "codes"_a.noconvert());
  m.def("characters", &characters, "texts"_a, "counts"_a, "looked_at"_a, "rows_with"_a.noconvert());
  m.def("rarest", &rarest, "texts"_a, "rows_with"_a, "looked_at"_a, "out"_a.noconvert());
  m.def("hashes", &hashes, "texts"_a, "out"_a.noconvert());
  m.attr("ASCII") = ASCII;
}
