#include <string_view>

#include "server/documents/office_paragraph.h"

namespace millrace::server {

std::vector<OfficeItem> ReadDrawingItems(pugi::xml_node paragraph) {
  std::vector<OfficeItem> items;
  for (const pugi::xml_node child : paragraph.children()) {
    const std::string_view name = child.name();
    if (child.type() != pugi::node_element || name.ends_with("Pr")) continue;
    if (name == "a:r") {
      items.push_back(
          {.text = child.child("a:t").text().get(), .properties = child.child("a:rPr")});
    } else {
      // A field shows what the program computes, such as the number of the slide.
      const auto kind = name == "a:br" ? OfficeItem::Kind::kDivider : OfficeItem::Kind::kAlone;
      items.push_back({.kind = kind, .nodes = {child}, .is_word = name == "a:fld"});
    }
  }
  return items;
}

}  // namespace millrace::server
