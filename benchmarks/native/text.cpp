// Writes a CSR matrix as svmlight or Vowpal Wabbit text, so that making the data takes seconds, not minutes.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr std::size_t kRoom = 1 << 22;  // bytes collected before they are written
constexpr std::size_t kEntry = 64;      // no "index:value " is longer

char* number(char* at, float value) {
  return std::to_chars(at, at + 32, static_cast<double>(value), std::chars_format::general, 6).ptr;
}

}  // namespace

// Six significant digits: a float32 that was rounded to six digits is read back as itself. 0 on success.
extern "C" int write_text(const char* path, int64_t rows, const int64_t* indptr, const int32_t* indices,
                          const float* values, const double* labels, int first_index, int vowpal_wabbit) {
  std::FILE* file = std::fopen(path, "wb");
  if (file == nullptr) return 1;
  std::vector<char> room(kRoom + kEntry);
  char* const begin = room.data();
  char* at = begin;
  bool good = true;
  for (int64_t i = 0; i < rows; ++i) {
    at = std::to_chars(at, at + 32, static_cast<int64_t>(labels[i])).ptr;
    if (vowpal_wabbit != 0) {
      *at++ = ' ';
      *at++ = '|';
    }
    for (int64_t k = indptr[i]; k < indptr[i + 1]; ++k) {
      *at++ = ' ';
      at = std::to_chars(at, at + 16, indices[k] + first_index).ptr;
      *at++ = ':';
      at = number(at, values[k]);
      if (static_cast<std::size_t>(at - begin) > kRoom - kEntry) {
        good = good && std::fwrite(begin, 1, at - begin, file) == static_cast<std::size_t>(at - begin);
        at = begin;
      }
    }
    *at++ = '\n';
  }
  good = good && std::fwrite(begin, 1, at - begin, file) == static_cast<std::size_t>(at - begin);
  return std::fclose(file) == 0 && good ? 0 : 1;
}
