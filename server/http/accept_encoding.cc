#include "server/http/accept_encoding.h"

#include <algorithm>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

// Returns the weight of a member such as "gzip;q=0.5"; one that cannot be read is 0.
double WeightOf(absl::string_view parameters) {
  const absl::string_view text = absl::StripAsciiWhitespace(parameters);
  if (text.empty()) return 1;
  double weight = 0;
  const bool named = absl::StartsWithIgnoreCase(text, "q=");
  return named && absl::SimpleAtod(text.substr(2), &weight) ? weight : 0;
}

}  // namespace

bool AcceptsEncoding(std::string_view head, std::string_view coding) {
  std::optional<bool> named;
  bool any = false;
  for (const absl::string_view line : absl::StrSplit(View(head), '\n')) {
    constexpr absl::string_view kName = "accept-encoding:";
    if (!absl::StartsWithIgnoreCase(line, kName)) continue;
    for (const absl::string_view member : absl::StrSplit(line.substr(kName.size()), ',')) {
      const size_t end = std::min(member.find(';'), member.size());
      const absl::string_view name = absl::StripAsciiWhitespace(member.substr(0, end));
      const absl::string_view rest = member.substr(std::min(end + 1, member.size()));
      const bool allowed = WeightOf(rest) > 0;
      if (absl::EqualsIgnoreCase(name, View(coding))) named = allowed;
      if (name == "*") any = allowed;
    }
  }
  return named.value_or(any);
}

}  // namespace millrace
