#include "models/translation/markup/csv_row.h"

#include <algorithm>

#include "models/text/ascii.h"

namespace millrace::translation {
namespace {

// Returns the end of a quoted field, in which a quotation mark is doubled; 0 if it does not end.
size_t QuotedEnd(std::string_view line, size_t at) {
  while (true) {
    at = line.find('"', at + 1);
    if (at == std::string_view::npos) return 0;
    if (models::ByteAt(line, at + 1) != '"') return at;
    ++at;
  }
}

// Returns true for a field without quotation marks that prose may not be: a few words without a
// stop or a bracket.
bool IsBare(std::string_view field) {
  constexpr std::ptrdiff_t kMostSpaces = 3;
  return field.find_first_of("\"()[]{}<>=!?&|\\`") == std::string_view::npos &&
         !field.ends_with('.') && !field.starts_with(' ') && !field.ends_with(' ') &&
         std::ranges::count(field, ' ') <= kMostSpaces;
}

std::vector<CsvField> ReadRow(std::string_view line, char separator) {
  constexpr size_t kFewestBare = 3;  // the fields of a row without quotation marks
  std::vector<CsvField> fields;
  bool is_quoted = false;
  bool may_be_number = false;  // 1,000
  size_t with_letters = 0;
  for (size_t at = 0; at <= line.size(); ++at) {
    CsvField field{at, at};
    if (models::ByteAt(line, at) == '"') {
      field.begin = at + 1;
      field.end = QuotedEnd(line, at);
      if (field.end == 0) return {};
      at = field.end + 1;
      is_quoted = true;
    } else {
      at = std::min(line.find(separator, at), line.size());
      field.end = at;
      if (!IsBare(line.substr(field.begin, field.end - field.begin))) return {};
    }
    if (at < line.size() && line[at] != separator) return {};
    may_be_number = may_be_number || (at > 0 && models::IsAsciiDigit(line[at - 1]) &&
                                      models::IsAsciiDigit(models::ByteAt(line, at + 1)));
    const std::string_view inner = line.substr(field.begin, field.end - field.begin);
    if (std::ranges::any_of(inner, models::IsAsciiLetter)) ++with_letters;
    fields.push_back(field);
  }
  const bool is_row =
      is_quoted ? fields.size() > 1 : fields.size() >= kFewestBare && !may_be_number;
  return is_row && with_letters > (is_quoted ? 0 : 1) ? fields : std::vector<CsvField>();
}

}  // namespace

std::vector<CsvField> ReadCsvRow(std::string_view line) {
  for (const char separator : {',', ';'}) {
    if (line.find(separator) == std::string_view::npos) continue;
    std::vector<CsvField> fields = ReadRow(line, separator);
    if (!fields.empty()) return fields;
  }
  return {};
}

}  // namespace millrace::translation
