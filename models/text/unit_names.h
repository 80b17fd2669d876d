#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "models/core/embedded_table.h"
#include "models/text/unicode.h"

namespace millrace::models {

struct UnitName {
  std::u32string written;
  std::u32string spoken;
};

// Reads the units of a table in its order, in which a longer one stands before one that it begins
// with.
inline std::vector<UnitName> ReadUnitNames(std::string_view table) {
  std::vector<UnitName> units;
  for (const auto& [written, spoken] : ReadTable<2>(table))
    units.push_back({DecodeUtf8(written), DecodeUtf8(spoken)});
  return units;
}

}  // namespace millrace::models
