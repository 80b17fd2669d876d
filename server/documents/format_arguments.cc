#include "server/documents/format_arguments.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

// A part of a format string that takes an argument.
struct Directive {
  size_t begin = 0;
  size_t end = 0;
  std::string_view what = {};  // without % and number: -5.2f
  bool has_number = false;     // %1$s or %(name)s
};

bool IsDigitOfFormat(char c) { return c >= '0' && c <= '9'; }

std::vector<Directive> FindDirectives(std::string_view text) {
  std::vector<Directive> found;
  const auto byte = [text](size_t at) { return at < text.size() ? text[at] : '\0'; };
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at)) {
    Directive directive{.begin = at};
    size_t next = at + 1;
    if (byte(next) == '%') {
      at += 2;
      continue;
    }
    size_t what = next;
    size_t digits = next;
    while (IsDigitOfFormat(byte(digits))) ++digits;
    if (digits > next && byte(digits) == '$') {
      directive.has_number = true;
      next = digits + 1;
    } else if (byte(next) == '(') {
      const size_t close = text.find(')', next);
      directive.has_number = true;
      next = close == std::string_view::npos ? text.size() : close + 1;
    } else {
      what = next;
    }
    constexpr std::string_view kParts = " #+-'0123456789.*hlLqjzt";
    while (kParts.find(byte(next)) != std::string_view::npos && next < text.size()) ++next;
    directive.end = std::min(next + 1, text.size());
    directive.what = text.substr(what, directive.end - what);
    at = directive.end;
    found.push_back(directive);
  }
  return found;
}

}  // namespace

std::optional<std::string> WithArgumentsOf(std::string_view source, std::string_view translation,
                                           bool may_number) {
  const std::vector<Directive> wanted = FindDirectives(source);
  const std::vector<Directive> found = FindDirectives(translation);
  if (std::ranges::equal(wanted, found, {}, &Directive::what, &Directive::what))
    return std::string(translation);
  if (wanted.size() != found.size()) return std::nullopt;
  const bool numbered = std::ranges::all_of(wanted, &Directive::has_number);
  const bool takes_width = std::ranges::any_of(wanted, [](const Directive& directive) {
    return directive.has_number || directive.what.find('*') != std::string_view::npos;
  });
  if (!numbered && (takes_width || !may_number)) return std::nullopt;
  std::vector<bool> used(wanted.size());
  std::string out;
  size_t at = 0;
  for (const Directive& directive : found) {
    size_t i = 0;
    while (i < wanted.size() && (used[i] || wanted[i].what != directive.what)) ++i;
    if (i == wanted.size()) return std::nullopt;
    used[i] = true;
    out += translation.substr(at, directive.begin - at);
    out += numbered ? StrCat("%", directive.what) : StrCat("%", i + 1, "$", directive.what);
    at = directive.end;
  }
  return out + std::string(translation.substr(at));
}

}  // namespace millrace::server
