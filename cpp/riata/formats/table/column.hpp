// A column of a table, as Arrow lays it out, and what is wanted of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "riata/block/named_row_builder.hpp"
#include "riata/block/prefixed_keys.hpp"
#include "riata/block/text_spec.hpp"

namespace riata {

// Texts one behind another: text i is data[offsets[i] .. offsets[i + 1]].
struct Texts {
  std::int64_t count = 0;
  const std::int64_t* offsets = nullptr;
  const char* data = nullptr;
  std::int64_t bytes = 0;

  // The buffers may come from anywhere.
  bool holds(std::int64_t i) const noexcept {
    return i >= 0 && i < count && offsets[i] >= 0 && offsets[i] <= offsets[i + 1] && offsets[i + 1] <= bytes;
  }
  std::string_view operator[](std::int64_t i) const noexcept {
    return {data + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
  // The size of the longest, or -1 where one of them leads nowhere.
  std::int64_t longest() const noexcept {
    std::int64_t most = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (!holds(i)) return -1;
      most = std::max(most, offsets[i + 1] - offsets[i]);
    }
    return most;
  }
  // Whether so many bytes before the text, and 16 behind it, are there to be read.
  bool is_inside(std::int64_t i, std::size_t before) const noexcept {
    return offsets[i] >= static_cast<std::int64_t>(before) && offsets[i + 1] <= bytes - 16;
  }
};

// The beginning of a name, and room behind it, so that it can be copied without asking how long it is.
class Prefix {
 public:
  static constexpr std::size_t kRoom = 16;
  explicit Prefix(std::string_view text = {}) : text_(text), size_(text.size()) {
    text_.resize(std::max(size_, kRoom));
  }
  std::size_t size() const noexcept { return size_; }
  std::string_view text() const noexcept { return {text_.data(), size_}; }
  void copy_to(char* to) const noexcept {
    if (size_ <= kRoom) {
      std::memcpy(to, text_.data(), kRoom);
    } else {
      std::memcpy(to, text_.data(), size_);
    }
  }

 private:
  std::string text_;
  std::size_t size_;
};

// A key and the name that has it, side by side: both are found in one place.
struct NamedKey {
  static constexpr std::size_t kLongest = 23;
  std::int64_t key;
  char name[kLongest];
  std::uint8_t size;
};
static_assert(sizeof(NamedKey) == 32);

enum class ColumnKind : std::uint8_t { number, log1p, bucket, text, coded, words };

struct Column {
  ColumnKind kind = ColumnKind::number;
  std::string name;
  Prefix number_name;                     // the name
  Prefix prefix;                          // the name and =, for texts
  Prefixed prefixed;                      // the same, for their keys
  std::uint64_t key = 0;                  // of the name
  std::uint64_t absence = 0;              // the key of what is missing
  std::vector<double> edges;              // of buckets, ascending
  std::vector<std::string> bucket_names;  // one more
  std::vector<std::uint64_t> bucket_keys;
  double centre = 0, scale = 1;  // a number x is the value (x - centre) / scale
  int group = Crosses::kNone;
  const std::uint8_t* valid = nullptr;  // a byte a row; null: nothing is missing
  const double* numbers = nullptr;
  Texts texts;                          // one a row, or the dictionary that codes point into
  const std::int32_t* codes = nullptr;  // below 0: missing
  std::int64_t n_codes = 0;             // as many as rows, or more where there are lists
  const std::int64_t* keys = nullptr;   // of the dictionary's features: see keys_of_texts
  // Codes are -1 or inside the dictionary, nothing else says what is missing, and that has keys[-1].
  bool checked = false;
  const NamedKey* named_keys = nullptr;  // where they are checked: as `keys`, if somebody made them
  bool sound = false;       // no text leads nowhere, and those that codes point into are one at least
  std::size_t longest = 0;  // text, where they are sound
  TextSpec spec;            // of words: how a text becomes n-grams
  const std::int64_t* lists = nullptr;  // row i holds the texts or codes lists[i] .. lists[i + 1]

  static constexpr std::string_view kMissing = "?";

  void set_name(const std::string& given) {
    name = given;
    number_name = Prefix(name);
    prefix = Prefix(name + "=");
    prefixed = Prefixed(name + "=");
    key = key_of_name(name.data(), name.size());
    const std::string missing = name + "=" + std::string(kMissing);
    absence = key_of_name(missing.data(), missing.size());
  }
  void look_at_texts() noexcept {
    const std::int64_t most = texts.longest();
    sound = most >= 0 && (kind != ColumnKind::coded || texts.count > 0);
    longest = sound ? static_cast<std::size_t>(most) : 0;
  }
  // The bytes of the longest name of a feature, at least.
  std::size_t longest_name() const noexcept {
    std::size_t most = prefix.size() + std::max(longest, kMissing.size());
    for (const std::string& bucket : bucket_names) most = std::max(most, bucket.size());
    return most;
  }
  void set_buckets(const std::vector<double>& given, const std::vector<std::string>& names) {
    edges = given;
    bucket_names = names;
    bucket_keys.clear();
    for (const std::string& bucket : names) bucket_keys.push_back(key_of_name(bucket.data(), bucket.size()));
  }
  bool is_number() const noexcept { return kind <= ColumnKind::bucket; }
  bool scaled() const noexcept { return centre != 0 || scale != 1; }
};

// The keys of the features that texts of a column make; false where the texts are damaged. Those from
// `first` on.
inline bool keys_of_texts(std::string_view column, const Texts& texts, std::int64_t* keys,
                          std::int64_t first = 0) {
  std::string name(column);
  name += '=';
  const Prefixed prefixed(name);
  const std::size_t start = name.size();
  for (std::int64_t i = first; i < texts.count; ++i) {
    if (!texts.holds(i)) return false;
    if (texts.is_inside(i, start)) {
      const std::string_view text = texts[i];
      keys[i] = static_cast<std::int64_t>(prefixed.key<false>(text.data(), text.data() + text.size()));
      continue;
    }
    name.resize(start);
    name += texts[i];
    keys[i] = static_cast<std::int64_t>(key_of_name(name.data(), name.size()));
  }
  return true;
}

// The same with their names, none of which is longer than NamedKey::kLongest; keys[-1] and named[-1] are of
// what is missing.
inline void name_keys(std::string_view column, const Texts& texts, const std::int64_t* keys,
                      NamedKey* named) noexcept {
  const std::size_t start = column.size() + 1;
  for (std::int64_t i = -1; i < texts.count; ++i) {
    NamedKey& to = named[i];
    const std::string_view text = i < 0 ? Column::kMissing : texts[i];
    to.key = keys[i];
    std::memcpy(to.name, column.data(), column.size());
    to.name[column.size()] = '=';
    if (!text.empty()) std::memcpy(to.name + start, text.data(), text.size());
    to.size = static_cast<std::uint8_t>(start + text.size());
  }
}

}  // namespace riata
