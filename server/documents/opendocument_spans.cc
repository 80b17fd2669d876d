#include "server/documents/opendocument_spans.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/strings.h"
#include "server/documents/xml_part.h"

namespace millrace::server {
namespace {

using Looks = std::map<std::string_view, std::string>;  // by the name of the style

// Returns how a style looks; sessions of an editor and languages are not seen. Empty: as the text
// around it.
std::string LookOfStyle(pugi::xml_node style) {
  constexpr std::array<std::string_view, 4> kUnseen = {"officeooo:rsid", "officeooo:paragraph-rsid",
                                                       "fo:language", "fo:country"};
  std::string look = style.attribute("style:parent-style-name").value();
  for (const pugi::xml_node properties : style.children()) {
    for (const pugi::xml_attribute attribute : properties.attributes()) {
      if (std::ranges::find(kUnseen, attribute.name()) == kUnseen.end())
        look += StrCat(" ", attribute.name(), "=", attribute.value());
    }
  }
  return look;
}

// Returns the look of a span that has nothing but a style of its document; nullopt: it has more.
std::optional<std::string_view> LookOfSpan(pugi::xml_node span, const Looks& looks) {
  const auto attributes = span.attributes();
  if (span.name() != std::string_view("text:span") ||
      std::distance(attributes.begin(), attributes.end()) != 1)
    return std::nullopt;
  const auto found = looks.find(span.attribute("text:style-name").value());
  if (found == looks.end()) return std::nullopt;
  return found->second;
}

}  // namespace

void JoinSpans(const pugi::xml_document& document) {
  Looks looks;
  std::vector<pugi::xml_node> spans;
  for (pugi::xml_node node = document; node; node = NextNode(node, document)) {
    const std::string_view name = node.name();
    if (name == "style:style" && node.attribute("style:family").value() == std::string_view("text"))
      looks[node.attribute("style:name").value()] = LookOfStyle(node);
    if (name == "text:span") spans.push_back(node);
  }
  // From the last one on, so that what is behind a span and within it is joined already.
  for (size_t i = spans.size(); i-- > 0;) {
    pugi::xml_node span = spans[i];
    const std::optional<std::string_view> look = LookOfSpan(span, looks);
    if (!look) continue;
    if (look->empty()) {
      while (const pugi::xml_node child = span.first_child())
        span.parent().insert_move_before(child, span);
      span.parent().remove_child(span);
      continue;
    }
    const pugi::xml_node next = span.next_sibling();
    if (!next || LookOfSpan(next, looks) != look) continue;
    while (const pugi::xml_node child = next.first_child()) span.append_move(child);
    span.parent().remove_child(next);
  }
}

}  // namespace millrace::server
