#include <string>
#include <string_view>
#include <utility>

#include "server/documents/office_paragraph.h"

namespace millrace::server {
namespace {

using ItemKind = OfficeItem::Kind;

// Reads what is inside of an element. `after_space`: the text before ends with a space, or there is
// none. A run of white space counts as one space, as OpenDocument says.
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
    } else if (name == "text:span" || name == "text:a") {
      items.push_back(
          {.kind = ItemKind::kSpan, .nodes = {child}, .inner = ReadItems(child, after_space)});
    } else if (name == "text:s" && !after_space) {
      items.push_back({.text = " "});
      after_space = true;
    } else if (name == "text:tab" || name == "text:line-break") {
      items.push_back({.kind = ItemKind::kDivider, .nodes = {child}});
      after_space = true;
    } else if (name != "text:soft-page-break") {
      items.push_back({.kind = ItemKind::kAlone, .nodes = {child}});
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
