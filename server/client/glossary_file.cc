#include "server/client/glossary_file.h"

#include <string_view>

#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/client/connection.h"

namespace millrace {

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadGlossaryFile(
    const std::filesystem::path& file) {
  const absl::StatusOr<std::string> text = Utf8Text("", file);
  if (!text.ok()) {
    return absl::Status(text.status().code(), StrCat("--glossary: ", text.status().message()));
  }
  std::vector<std::pair<std::string, std::string>> entries;
  size_t number = 0;
  absl::string_view rest = *text;
  absl::ConsumePrefix(&rest, "\xEF\xBB\xBF");  // a byte order mark
  for (absl::string_view line : absl::StrSplit(rest, '\n')) {
    ++number;
    absl::ConsumeSuffix(&line, "\r");
    if (line.empty()) continue;
    const std::vector<std::string> parts = absl::StrSplit(line, '\t');
    if (parts.size() != 2 || parts[0].empty() || parts[1].empty()) {
      return InvalidArgument("--glossary: line ", number, " of ", file.string(),
                             " is not a source, a tab and its translation");
    }
    entries.emplace_back(parts[0], parts[1]);
  }
  return entries;
}

}  // namespace millrace
