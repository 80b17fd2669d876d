#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "server/documents/office_paragraph.h"

namespace millrace::server {
namespace {

using ItemKind = OfficeItem::Kind;

// Returns true for an element that only marks a place, so that the spaces before and behind it are
// one.
bool IsAnchor(std::string_view name) {
  constexpr std::array<std::string_view, 6> kAnchors = {
      "text:bookmark", "text:reference-mark",  "text:change",
      "text:toc-mark", "text:user-index-mark", "text:alphabetical-index-mark"};
  if (name == "office:annotation-end") return true;
  for (const std::string_view end : {"-start", "-end"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  return std::ranges::find(kAnchors, name) != kAnchors.end();
}

// Reads what is inside of an element. `after_space`: the text before ends with a space, or there is
// none. A run of white space counts as one space, as OpenDocument says; several spaces (text:s)
// divide the text, as a tab does.
std::vector<OfficeItem> ReadItems(pugi::xml_node parent, bool& after_space) {
  std::vector<OfficeItem> items;
  for (const pugi::xml_node child : parent.children()) {
    const std::string_view name = child.name();
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
      OfficeItem item;
      for (const char c : std::string_view(child.value())) {
        const bool is_space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (is_space && after_space) continue;
        item.text += is_space ? ' ' : c;
        after_space = is_space;
      }
      items.push_back(std::move(item));
    } else if (name == "text:span" || name == "text:a" || name == "text:meta") {
      items.push_back(
          {.kind = ItemKind::kSpan, .nodes = {child}, .inner = ReadItems(child, after_space)});
    } else if (name == "text:s" && !after_space && child.attribute("text:c").as_int(1) == 1) {
      items.push_back({.text = " "});
      after_space = true;
    } else if (name == "text:s" || name == "text:tab" || name == "text:line-break") {
      items.push_back({.kind = ItemKind::kDivider, .nodes = {child}});
      after_space = true;
    } else if (name != "text:soft-page-break") {
      // A field has the text that it shows.
      const bool is_word = *child.text().get() != '\0';
      items.push_back({.kind = ItemKind::kAlone, .nodes = {child}, .is_word = is_word});
      after_space = after_space && IsAnchor(name);
    }
  }
  return items;
}

}  // namespace

std::vector<OfficeItem> ReadOpenDocumentItems(pugi::xml_node paragraph) {
  bool after_space = true;
  return ReadItems(paragraph, after_space);
}

}  // namespace millrace::server
