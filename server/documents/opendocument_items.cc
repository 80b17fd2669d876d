#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

#include "server/documents/office_paragraph.h"
#include "server/documents/ranges.h"

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

bool IsTextSpan(std::string_view name) {
  constexpr std::array<std::string_view, 4> kSpans = {"text:span", "text:a", "text:meta",
                                                      "loext:content-control"};
  return std::ranges::find(kSpans, name) != kSpans.end();
}

// Reads the marks of bookmarks, references, indices, changes and comments.
RangeMark ReadOpenDocumentRange(pugi::xml_node node) {
  constexpr std::array<std::pair<std::string_view, RangeMark::Place>, 2> kEnds = {
      {{"-start", RangeMark::Place::kBegin}, {"-end", RangeMark::Place::kEnd}}};
  std::string_view name = node.name();
  if (name == "office:annotation")
    return {RangeMark::Place::kBegin, name, node.attribute("office:name").value()};
  for (const auto& [end, place] : kEnds) {
    if (!name.ends_with(end)) continue;
    name.remove_suffix(end.size());
    for (const char* const id : {"text:name", "text:id", "text:change-id", "office:name"}) {
      if (const pugi::xml_attribute found = node.attribute(id)) return {place, name, found.value()};
    }
  }
  return {};
}

std::vector<OfficeItem> ReadItemsIn(pugi::xml_node parent, size_t depth, bool& after_space);

// Items that are nested deeper stay as they are, which bounds the stack and the time.
constexpr size_t kDeepestSpan = 64;

// Reads what is inside of an element. `after_space`: the text before ends with a space, or there is
// none. A run of white space counts as one space, as OpenDocument says; several spaces (text:s)
// divide the text, as a tab does.
std::vector<OfficeItem> ReadItems(std::span<const pugi::xml_node> children, size_t depth,
                                  bool& after_space) {
  std::vector<OfficeItem> items;
  for (size_t i = 0; i < children.size(); ++i) {
    const pugi::xml_node child = children[i];
    if (const size_t end = depth < kDeepestSpan ? RangeEnd(children, i, ReadOpenDocumentRange) : 0;
        end > 0) {
      const auto range = children.subspan(i, end - i + 1);
      items.push_back(
          RangeItem(range, ReadItems(range.subspan(1, range.size() - 2), depth + 1, after_space)));
      i = end;
      continue;
    }
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
    } else if (depth < kDeepestSpan && IsTextSpan(name)) {
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {child},
                       .inner = ReadItemsIn(child, depth + 1, after_space)});
    } else if (const pugi::xml_node base = child.child("text:ruby-base");
               base && depth < kDeepestSpan) {
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {child, base},
                       .end_nodes = {child.child("text:ruby-text")},
                       .inner = ReadItemsIn(base, depth + 1, after_space)});
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

std::vector<OfficeItem> ReadItemsIn(pugi::xml_node parent, size_t depth, bool& after_space) {
  const auto children = parent.children();
  return ReadItems(std::vector<pugi::xml_node>(children.begin(), children.end()), depth,
                   after_space);
}

}  // namespace

std::vector<OfficeItem> ReadOpenDocumentItems(pugi::xml_node paragraph) {
  bool after_space = true;
  return ReadItemsIn(paragraph, /*depth=*/0, after_space);
}

}  // namespace millrace::server
