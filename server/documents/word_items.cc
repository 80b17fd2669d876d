#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "server/documents/office_paragraph.h"

namespace millrace::server {
namespace {

using ItemKind = OfficeItem::Kind;

constexpr std::array<std::string_view, 7> kSpans = {
    "w:hyperlink", "w:ins", "w:smartTag", "w:customXml", "w:bdo", "w:dir", "w:moveTo"};
// Elements that an editor notes for itself, and writes anew.
constexpr std::array<std::string_view, 4> kDropped = {"w:proofErr", "w:lastRenderedPageBreak",
                                                      "w:softHyphen", "w:rPr"};

bool Among(std::string_view name, const auto& names) {
  return std::ranges::find(names, name) != names.end();
}

// Returns by how much a run changes the number of fields that are open; `has_code` is set if it is
// part of a field.
int FieldsOf(pugi::xml_node run, bool& has_code) {
  int opened = 0;
  for (const pugi::xml_node child : run.children()) {
    const std::string_view name = child.name();
    if (name == "w:instrText") has_code = true;
    if (name != "w:fldChar") continue;
    has_code = true;
    const std::string_view type = child.attribute("w:fldCharType").value();
    opened += type == "begin" ? 1 : type == "end" ? -1 : 0;
  }
  return opened;
}

void ReadRun(pugi::xml_node run, std::vector<OfficeItem>& items) {
  const pugi::xml_node properties = run.child("w:rPr");
  for (const pugi::xml_node child : run.children()) {
    const std::string_view name = child.name();
    if (Among(name, kDropped)) continue;
    if (name == "w:t") {
      items.push_back({.text = child.text().get(), .properties = properties});
    } else if (name == "w:noBreakHyphen") {
      items.push_back({.text = "\u2011", .properties = properties});
    } else {
      const bool is_line = name == "w:br" && !child.attribute("w:type");
      const bool divides = is_line || name == "w:tab" || name == "w:cr";
      items.push_back({.kind = divides ? ItemKind::kDivider : ItemKind::kAlone,
                       .properties = properties,
                       .nodes = {child},
                       .in_run = true});
    }
  }
}

std::vector<OfficeItem> ReadItems(pugi::xml_node parent) {
  std::vector<OfficeItem> items;
  int open_fields = 0;
  for (const pugi::xml_node child : parent.children()) {
    const std::string_view name = child.name();
    if (name.ends_with("Pr") || Among(name, kDropped)) continue;
    if (open_fields > 0) items.back().nodes.push_back(child);
    if (name == "w:r") {
      bool has_code = false;
      const int opened = FieldsOf(child, has_code);
      const bool is_inside = open_fields > 0;
      open_fields = std::max(open_fields + opened, 0);
      if (is_inside) continue;
      if (has_code) {
        items.push_back({.kind = ItemKind::kAlone, .nodes = {child}});
      } else {
        ReadRun(child, items);
      }
    } else if (open_fields > 0) {
      continue;
    } else if (Among(name, kSpans)) {
      items.push_back({.kind = ItemKind::kSpan, .nodes = {child}, .inner = ReadItems(child)});
    } else {
      items.push_back({.kind = ItemKind::kAlone, .nodes = {child}});
    }
  }
  return items;
}

}  // namespace

std::vector<OfficeItem> ReadWordItems(pugi::xml_node paragraph) { return ReadItems(paragraph); }

}  // namespace millrace::server
