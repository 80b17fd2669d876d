#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A field of a row: the bytes between its quotation marks, or all of it if it has none.
struct CsvField {
  size_t begin = 0;
  size_t end = 0;
};

// Returns the fields of a line of comma-separated values, separated by commas or semicolons without
// spaces behind them; none if the line is prose. Linear time.
std::vector<CsvField> ReadCsvRow(std::string_view line);

}  // namespace millrace::translation
