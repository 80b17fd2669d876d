#include "server/frontends/deepl/inline_elements.h"

#include <algorithm>
#include <cstddef>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

// Returns a text with the elements that are called `from` called `to`.
std::string Renamed(std::string_view text, const std::vector<std::string>& from,
                    const std::vector<std::string>& to) {
  std::string out;
  size_t done = 0;
  for (size_t at = text.find('<'); at != text.npos; at = text.find('<', at + 1)) {
    const size_t name = at + (text.substr(at + 1).starts_with('/') ? 2 : 1);
    const size_t end = std::min(text.find_first_of(" \t\r\n/<>", name), text.size());
    const auto found = std::ranges::find(from, text.substr(name, end - name));
    if (found == from.end()) continue;
    out += StrCat(text.substr(done, name - done), to[static_cast<size_t>(found - from.begin())]);
    done = end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace

void InlineElements::Hide(std::vector<std::string>& texts) {
  // A letter and a number are the name of a placeholder. No text may have it already.
  std::string prefix = "k7";
  while (std::ranges::any_of(
      texts, [&](const std::string& text) { return text.find(prefix) != text.npos; })) {
    prefix += '7';
  }
  for (size_t i = 0; i < tags_.size(); ++i) names_.push_back(StrCat(prefix, "0", i));
  for (std::string& text : texts) text = Renamed(text, tags_, names_);
}

std::string InlineElements::Show(std::string_view text) const {
  return Renamed(text, names_, tags_);
}

}  // namespace millrace::server
