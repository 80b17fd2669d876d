#include "server/frontends/deepl/glossary_entries.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/ascii.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

// Takes a line of text off its front, without what ends it.
std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::vector<std::string> SplitTabs(std::string_view line) {
  std::vector<std::string> fields;
  for (;;) {
    const size_t tab = std::min(line.find('\t'), line.size());
    fields.emplace_back(line.substr(0, tab));
    if (tab == line.size()) return fields;
    line.remove_prefix(tab + 1);
  }
}

// Takes the fields of a record off the front of the text (RFC 4180). None: a quote is not closed.
std::vector<std::string> TakeRecord(std::string_view& text) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        fields.back() += text[++at];
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  if (quoted) fields.clear();
  return fields;
}

// The list of a glossary's terms could not show these.
bool HasControl(std::string_view term) {
  return std::ranges::any_of(term, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

absl::Status BadLine(size_t line, std::string_view what) {
  return InvalidArgument("entries: line ", line, " ", what);
}

}  // namespace

absl::StatusOr<std::vector<models::GlossaryEntry>> ParseGlossaryEntries(std::string_view text,
                                                                        std::string_view format) {
  const bool csv = format == "csv";
  if (!csv && format != "tsv") {
    return InvalidArgument("entries_format: ", Shown(format), " is not supported; tsv and csv are");
  }
  std::vector<models::GlossaryEntry> entries;
  for (size_t line = 1; !text.empty(); ++line) {
    std::vector<std::string> fields = csv ? TakeRecord(text) : SplitTabs(TakeLine(text));
    if (fields.empty()) return BadLine(line, "has a quote that is not closed");
    for (std::string& field : fields) absl::StripAsciiWhitespace(&field);
    if (fields.size() == 1 && fields.front().empty()) continue;
    // A line of csv may name the languages behind its two texts.
    const bool fits = csv ? fields.size() == 2 || fields.size() == 4 : fields.size() == 2;
    if (!fits || fields[0].empty() || fields[1].empty()) {
      return BadLine(line, StrCat("is not a source and a target with a ", csv ? "comma" : "tab",
                                  " between them"));
    }
    if (HasControl(fields[0]) || HasControl(fields[1]))
      return BadLine(line, "has a control character within a term, which is not allowed");
    entries.push_back({std::move(fields[0]), std::move(fields[1])});
  }
  if (entries.empty()) return InvalidArgument("entries: there are none");
  return entries;
}

std::string GlossaryAsTsv(const std::vector<models::GlossaryEntry>& entries) {
  std::string tsv;
  for (const models::GlossaryEntry& entry : entries)
    tsv += StrCat(entry.source, "\t", entry.target, "\n");
  return tsv;
}

}  // namespace millrace::server
