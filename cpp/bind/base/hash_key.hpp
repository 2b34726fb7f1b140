// The key of the hash of names, as Python has it: 16 bytes, or None for the hash that everybody knows.
#pragma once

#include <nanobind/nanobind.h>

#include <cstring>

#include "riata/base/hash.hpp"

namespace riata::bind {

inline HashKey hash_key_from(nanobind::handle from) {
  HashKey key;
  if (from.is_none()) return key;
  if (!PyBytes_Check(from.ptr()) || PyBytes_GET_SIZE(from.ptr()) != sizeof key)
    throw nanobind::value_error("a hash key has 16 bytes");
  std::memcpy(&key, PyBytes_AS_STRING(from.ptr()), sizeof key);
  return key;
}

}  // namespace riata::bind
