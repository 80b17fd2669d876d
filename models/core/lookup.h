#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace millrace {

// Returns the value beside a key in a table; `otherwise` where it is not there.
template <typename Key, typename Value, size_t N>
constexpr Value ValueOf(const std::pair<Key, Value> (&table)[N], Key key, Value otherwise) {
  const auto found = std::ranges::find(table, key, &std::pair<Key, Value>::first);
  return found == std::end(table) ? otherwise : found->second;
}

}  // namespace millrace
