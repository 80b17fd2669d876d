#include "server/frontends/deepl/kept_elements.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr std::string_view kBefore = "<span translate=\"no\" data-kept=\"\">";
constexpr std::string_view kBehind = "</span>";

struct Tag {
  std::string_view name;
  bool closes = false;    // </x>
  bool is_empty = false;  // <x/>
  size_t end = 0;         // in the text, behind its >; 0: there is no tag
};

// Reads the tag whose < is at `at`.
Tag ReadTag(std::string_view text, size_t at) {
  Tag tag;
  size_t next = at + 1;
  tag.closes = next < text.size() && text[next] == '/';
  if (tag.closes) ++next;
  const size_t name = next;
  next = std::min(text.find_first_of(" \t\r\n/>", name), text.size());
  tag.name = text.substr(name, next - name);
  char quote = 0;
  for (; next < text.size(); ++next) {
    const char c = text[next];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      tag.is_empty = text[next - 1] == '/';
      tag.end = next + 1;
      break;
    }
  }
  return tag;
}

// Returns the end of the element that an opening tag begins; 0 if it is never closed.
size_t ElementEnd(std::string_view text, const Tag& opening) {
  if (opening.is_empty) return opening.end;
  size_t depth = 1;
  for (size_t at = text.find('<', opening.end); at != text.npos; at = text.find('<', at + 1)) {
    const Tag tag = ReadTag(text, at);
    if (tag.end == 0) return 0;
    if (!absl::EqualsIgnoreCase(View(tag.name), View(opening.name)) || tag.is_empty) continue;
    depth += tag.closes ? -1 : 1;
    if (depth == 0) return tag.end;
  }
  return 0;
}

}  // namespace

KeptElements::KeptElements(std::vector<std::string> tags) : tags_(std::move(tags)) {}

bool KeptElements::IsKept(std::string_view name) const {
  return std::ranges::any_of(
      tags_, [name](const std::string& tag) { return absl::EqualsIgnoreCase(tag, View(name)); });
}

std::string KeptElements::Hide(std::string_view text) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at)) {
    const Tag tag = ReadTag(text, at);
    const bool opens = tag.end != 0 && !tag.closes && IsKept(tag.name);
    const size_t end = opens ? ElementEnd(text, tag) : 0;
    if (tag.end == 0 || (opens && end == 0)) break;
    if (opens) {
      out += StrCat(text.substr(done, at - done), kBefore, elements_.size(), kBehind);
      elements_.emplace_back(text.substr(at, end - at));
      done = end;
    }
    at = opens ? end : tag.end;
  }
  out += text.substr(done);
  return out;
}

std::string KeptElements::Show(std::string_view text) const {
  std::string out;
  for (size_t at = text.find(kBefore); at != text.npos; at = text.find(kBefore)) {
    const std::string_view rest = text.substr(at + kBefore.size());
    size_t index = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
    const std::string_view behind = rest.substr(static_cast<size_t>(end - rest.data()));
    out += text.substr(0, at);
    if (error == std::errc() && index < elements_.size() && behind.starts_with(kBehind)) {
      out += elements_[index];
      text = behind.substr(kBehind.size());
    } else {
      out += kBefore;
      text = rest;
    }
  }
  out += text;
  return out;
}

}  // namespace millrace::server
