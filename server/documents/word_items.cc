#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// The elements of a field: those up to the mark between its code and its result, the result, and
// those that end it.
struct Field {
  std::vector<pugi::xml_node> begin;
  std::vector<pugi::xml_node> result;
  std::vector<pugi::xml_node> end;
  std::string code;
  bool is_closed = false;    // it ends in the same element
  bool is_divided = false;   // it has a mark between code and result
  bool has_own_runs = true;  // no text stands in the runs with its marks
};

Field ReadField(pugi::xml_node first) {
  Field field;
  int depth = 0;
  for (pugi::xml_node node = first; node && !field.is_closed; node = node.next_sibling()) {
    bool is_mark = false;
    for (const pugi::xml_node child : node.children()) {
      const std::string_view name = child.name();
      if (name == "w:instrText" && depth == 1 && !field.is_divided)
        field.code += child.text().get();
      if (name != "w:fldChar") continue;
      const std::string_view type = child.attribute("w:fldCharType").value();
      if (type == "begin") ++depth;
      if (depth == 1 && type == "separate") field.is_divided = is_mark = true;
      if (type == "end" && --depth == 0) field.is_closed = is_mark = true;
    }
    if (is_mark && node.child("w:t")) field.has_own_runs = false;
    if (field.is_closed) {
      field.end.push_back(node);
    } else {
      (field.is_divided && !is_mark ? field.result : field.begin).push_back(node);
    }
  }
  return field;
}

// Returns true for the code of a field whose result is text of the document.
bool HasWords(std::string_view code) {
  code.remove_prefix(std::min(code.find_first_not_of(' '), code.size()));
  const std::string_view name = code.substr(0, code.find(' '));
  return name == "HYPERLINK" || name == "TOC";
}

// Returns true if an element has runs with text.
bool ShowsText(pugi::xml_node element) {
  return !!element.find_node([](pugi::xml_node node) {
    return node.name() == std::string_view("w:t") && *node.text().get() != '\0';
  });
}

// Returns true for a content control within a line whose text a person wrote, or is asked to.
bool IsTextControl(pugi::xml_node control) {
  constexpr std::array<std::string_view, 10> kOthers = {
      "w:comboBox", "w:dropDownList", "w:date",     "w:picture",    "w:docPartObj",
      "w:equation", "w:docPartList",  "w:citation", "w14:checkbox", "w:bibliography"};
  for (const pugi::xml_node property : control.child("w:sdtPr").children()) {
    if (Among(property.name(), kOthers)) return false;
  }
  return !!control.child("w:sdtContent").child("w:r");
}

// Items that are nested deeper stay as they are, which bounds the stack and the time.
constexpr size_t kDeepest = 64;

std::vector<OfficeItem> ReadItems(const std::vector<pugi::xml_node>& children, size_t depth) {
  std::vector<OfficeItem> items;
  for (size_t i = 0; i < children.size(); ++i) {
    const pugi::xml_node child = children[i];
    const std::string_view name = child.name();
    if (name.ends_with("Pr") || Among(name, kDropped)) continue;
    if (name == "w:r") {
      bool has_code = false;
      const int opened = FieldsOf(child, has_code);
      if (!has_code) {
        ReadRun(child, items);
        continue;
      }
      if (opened <= 0) {
        items.push_back({.kind = ItemKind::kAlone, .nodes = {child}});
        continue;
      }
      Field field = ReadField(child);
      const bool has_words =
          HasWords(field.code) && field.is_divided && field.has_own_runs && depth < kDeepest;
      if (has_words && field.is_closed) {
        i += field.begin.size() + field.result.size() + field.end.size() - 1;
        items.push_back({.kind = ItemKind::kField,
                         .nodes = std::move(field.begin),
                         .end_nodes = std::move(field.end),
                         .inner = ReadItems(field.result, depth + 1)});
        continue;
      }
      const bool is_word =
          !has_words && field.is_closed && std::ranges::any_of(field.result, ShowsText);
      std::vector<pugi::xml_node> nodes = std::move(field.begin);
      if (!has_words) {  // one that goes on in other paragraphs ends there
        nodes.insert(nodes.end(), field.result.begin(), field.result.end());
        nodes.insert(nodes.end(), field.end.begin(), field.end.end());
      }
      i += nodes.size() - 1;
      items.push_back({.kind = ItemKind::kAlone, .nodes = std::move(nodes), .is_word = is_word});
    } else if (name == "w:sdt" && depth < kDeepest && IsTextControl(child)) {
      const pugi::xml_node content = child.child("w:sdtContent");
      const auto inner = content.children();
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {child, content},
                       .inner = ReadItems({inner.begin(), inner.end()}, depth + 1)});
    } else if (depth < kDeepest &&
               (Among(name, kSpans) ||
                (name == "w:fldSimple" && HasWords(child.attribute("w:instr").value())))) {
      const auto inner = child.children();
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {child},
                       .inner = ReadItems({inner.begin(), inner.end()}, depth + 1)});
    } else {
      const bool is_word = name == "w:fldSimple" && ShowsText(child);
      items.push_back({.kind = ItemKind::kAlone, .nodes = {child}, .is_word = is_word});
    }
  }
  return items;
}

}  // namespace

std::vector<OfficeItem> ReadWordItems(pugi::xml_node paragraph) {
  const auto children = paragraph.children();
  return ReadItems({children.begin(), children.end()}, /*depth=*/0);
}

}  // namespace millrace::server
