#include "server/http/form.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// In a form a plus stands for a blank.
std::string Decode(std::string_view text) {
  return DecodePercent(absl::StrReplaceAll(View(text), {{"+", " "}}));
}

}  // namespace

std::string DecodePercent(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const auto high = HexDigit(text[i + 1]);
      const auto low = HexDigit(text[i + 2]);
      if (high && low) {
        decoded += static_cast<char>(*high * 16 + *low);
        i += 2;
        continue;
      }
    }
    decoded += text[i];
  }
  return decoded;
}

bool IsEncodedForm(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; "));
  return absl::EqualsIgnoreCase(View(type), "application/x-www-form-urlencoded");
}

FormMembers ParseForm(std::string_view body) {
  FormMembers members;
  while (!body.empty()) {
    const std::string_view member = body.substr(0, body.find('&'));
    body.remove_prefix(std::min(member.size() + 1, body.size()));
    if (member.empty()) continue;
    const size_t equals = std::min(member.find('='), member.size());
    members.emplace_back(Decode(member.substr(0, equals)),
                         Decode(member.substr(std::min(equals + 1, member.size()))));
  }
  return members;
}

}  // namespace millrace
