// Keys of names by a hash of one's own.
#include "bind/base/hash_key.hpp"

#include "bind/arrays.hpp"

namespace riata::bind {

using namespace nb::literals;

namespace {

Out<std::int64_t> keys_of_names(const In<std::uint8_t>& names, const In<std::int64_t>& offsets,
                                nb::handle hash_key) {
  const HashKey key = hash_key_from(hash_key);
  if (offsets.size() == 0) throw nb::value_error("offsets must begin with where the first name begins");
  const std::size_t n = offsets.size() - 1;
  const std::int64_t* const at = offsets.data();
  bool good = at[0] >= 0 && static_cast<std::uint64_t>(at[n]) <= names.size();
  for (std::size_t k = 0; k < n; ++k) good &= at[k] <= at[k + 1];
  if (!good) throw nb::value_error("offsets must ascend within the names");
  NewArray<std::int64_t> keys(n);
  {
    nb::gil_scoped_release release;
    const char* const text = reinterpret_cast<const char*>(names.data());
    for (std::size_t k = 0; k < n; ++k)
      keys.get()[k] = static_cast<std::int64_t>(
          key_of_name(text + at[k], static_cast<std::size_t>(at[k + 1] - at[k]), key));
  }
  return give(std::move(keys));
}

}  // namespace

void bind_hash_key(nb::module_& m) {
  m.def("keys_of_names", &keys_of_names, "names"_a, "offsets"_a, "hash_key"_a.none() = nb::none(),
        nb::sig(
            "def keys_of_names(names: NDArray[numpy.uint8], offsets: NDArray[numpy.int64], hash_key: bytes | "
            "None = None) -> NDArray[numpy.int64]"),
        "The 63-bit keys of names that lie one behind another.");
}

}  // namespace riata::bind
