#pragma once

#include <span>
#include <string>
#include <type_traits>

namespace millrace::models {

// Appends the bytes of numbers to the key of a cache. Types without gaps between their bytes only,
// because equal values must have equal keys.
template <typename... T>
void AppendToKey(std::string& key, const T&... values) {
  static_assert(((std::is_arithmetic_v<T> || std::is_enum_v<T>)&&...));
  (key.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

// Appends numbers with their count, so that no two lists of lists have the same bytes.
template <typename T>
void AppendAllToKey(std::string& key, std::span<const T> values) {
  static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
  AppendToKey(key, values.size());
  key.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

}  // namespace millrace::models
