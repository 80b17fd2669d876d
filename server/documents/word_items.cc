#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/documents/office_paragraph.h"
#include "server/documents/ranges.h"
#include "server/documents/xml_part.h"

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

// Returns the element behind one in document order, within `root` and its paragraph: the paragraphs
// of a text box are others.
pugi::xml_node NextInParagraph(pugi::xml_node node, pugi::xml_node root) {
  return NextNode(node, root, /*skip=*/node.name() == std::string_view("w:txbxContent"));
}

// Returns by how much an element changes the number of fields that are open.
int FieldsOf(pugi::xml_node element) {
  int opened = 0;
  for (pugi::xml_node node = element; node; node = NextInParagraph(node, element)) {
    if (node.name() != std::string_view("w:fldChar")) continue;
    const std::string_view type = node.attribute("w:fldCharType").value();
    opened += type == "begin" ? 1 : type == "end" ? -1 : 0;
  }
  return opened;
}

bool HasFieldCode(pugi::xml_node run) { return run.child("w:fldChar") || run.child("w:instrText"); }

// Gives each element in a run that has both text and parts of a field a run of its own.
void DivideFieldRuns(pugi::xml_node paragraph) {
  for (pugi::xml_node run = paragraph; run; run = NextInParagraph(run, paragraph)) {
    if (run.name() != std::string_view("w:r") || !run.child("w:t") || !HasFieldCode(run)) continue;
    const pugi::xml_node properties = run.child("w:rPr");
    const pugi::xml_node first = properties ? properties.next_sibling() : run.first_child();
    if (!first.next_sibling()) continue;
    pugi::xml_node rest = run.parent().insert_child_after("w:r", run);
    for (const pugi::xml_attribute attribute : run.attributes()) rest.append_copy(attribute);
    if (properties) rest.append_copy(properties);
    while (const pugi::xml_node moved = first.next_sibling()) rest.append_move(moved);
  }
}

// Returns true for the white space of a document whose elements have lines of their own.
bool IsSpaceBetween(pugi::xml_node node) { return node.type() == pugi::node_pcdata; }

// Items that are nested deeper stay as they are, which bounds the stack and the time.
constexpr size_t kDeepest = 64;

std::vector<OfficeItem> ReadItemsIn(pugi::xml_node element, size_t depth);

void ReadRun(pugi::xml_node run, size_t depth, std::vector<OfficeItem>& items) {
  const pugi::xml_node properties = run.child("w:rPr");
  for (const pugi::xml_node child : run.children()) {
    const std::string_view name = child.name();
    if (Among(name, kDropped) || IsSpaceBetween(child)) continue;
    if (name == "w:t") {
      items.push_back({.text = child.text().get(), .properties = properties});
    } else if (name == "w:noBreakHyphen") {
      items.push_back({.text = "\u2011", .properties = properties});
    } else if (const pugi::xml_node base = child.child("w:rubyBase"); base && depth < kDeepest) {
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {run, child, base},
                       .inner = ReadItemsIn(base, depth + 1)});
    } else {
      const bool divides = name == "w:br" || name == "w:tab" || name == "w:ptab" || name == "w:cr";
      items.push_back({.kind = divides ? ItemKind::kDivider : ItemKind::kAlone,
                       .properties = properties,
                       .nodes = {child},
                       .in_run = true});
    }
  }
}

// Returns true if an element has runs with text.
bool ShowsText(pugi::xml_node element) {
  return !!element.find_node([](pugi::xml_node node) {
    return node.name() == std::string_view("w:t") && *node.text().get() != '\0';
  });
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
    // Where a change was tracked, parts of a field are inside of other elements.
    for (pugi::xml_node part = node; part; part = NextInParagraph(part, node)) {
      const std::string_view name = part.name();
      if (name == "w:instrText" && depth == 1 && !field.is_divided) field.code += part.text().get();
      if (name != "w:fldChar") continue;
      const std::string_view type = part.attribute("w:fldCharType").value();
      if (type == "begin") ++depth;
      if (depth == 1 && type == "separate") field.is_divided = is_mark = true;
      if (type == "end" && --depth == 0) field.is_closed = is_mark = true;
    }
    if (is_mark && ShowsText(node)) field.has_own_runs = false;
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
  constexpr std::array<std::string_view, 9> kWords = {
      "DOCPROPERTY", "HYPERLINK", "IF", "QUOTE", "REF", "STYLEREF", "SUBJECT", "TITLE", "TOC"};
  return Among(name, kWords);
}

// Returns true for a content control within a line whose text a person wrote, or is asked to.
bool IsTextControl(pugi::xml_node control) {
  constexpr std::array<std::string_view, 10> kOthers = {
      "w:comboBox", "w:dropDownList", "w:date",     "w:picture",    "w:docPartObj",
      "w:equation", "w:docPartList",  "w:citation", "w14:checkbox", "w:bibliography"};
  for (const pugi::xml_node property : control.child("w:sdtPr").children()) {
    if (Among(property.name(), kOthers)) return false;
  }
  return ShowsText(control.child("w:sdtContent"));
}

// Reads the marks of bookmarks, comments, permissions and moved text, which are named alike.
RangeMark ReadWordRange(pugi::xml_node node) {
  std::string_view name = node.name();
  const bool begins = name.ends_with("Start");
  if (!name.starts_with("w:") || (!begins && !name.ends_with("End"))) return {};
  name.remove_suffix(begins ? 5 : 3);
  return {begins ? RangeMark::Place::kBegin : RangeMark::Place::kEnd, name,
          node.attribute("w:id").value()};
}

// Returns true if each field that begins or ends in some elements does both.
bool HasWholeFields(std::span<const pugi::xml_node> elements) {
  int open = 0;
  for (const pugi::xml_node element : elements) {
    open += FieldsOf(element);
    if (open < 0) return false;
  }
  return open == 0;
}

std::vector<OfficeItem> ReadItems(std::span<const pugi::xml_node> children, size_t depth) {
  std::vector<OfficeItem> items;
  for (size_t i = 0; i < children.size(); ++i) {
    const pugi::xml_node child = children[i];
    const std::string_view name = child.name();
    if (name.ends_with("Pr") || Among(name, kDropped) || IsSpaceBetween(child)) continue;
    const size_t end = depth < kDeepest ? RangeEnd(children, i, ReadWordRange) : 0;
    if (const auto range = children.subspan(i, end > 0 ? end - i + 1 : 0);
        !range.empty() && HasWholeFields(range)) {
      items.push_back(RangeItem(range, ReadItems(range.subspan(1, range.size() - 2), depth + 1)));
      i = end;
      continue;
    }
    const bool is_run = name == "w:r";
    if (is_run && !HasFieldCode(child)) {
      ReadRun(child, depth, items);
      continue;
    }
    Field field = FieldsOf(child) > 0 ? ReadField(child) : Field();
    if (is_run || field.is_closed) {
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
      if (nodes.empty()) nodes.push_back(child);  // a part of a field that begins elsewhere
      if (!has_words) {                           // one that goes on in other paragraphs ends there
        nodes.insert(nodes.end(), field.result.begin(), field.result.end());
        nodes.insert(nodes.end(), field.end.begin(), field.end.end());
      }
      i += nodes.size() - 1;
      items.push_back({.kind = ItemKind::kAlone, .nodes = std::move(nodes), .is_word = is_word});
    } else if (name == "w:sdt" && depth < kDeepest && IsTextControl(child)) {
      const pugi::xml_node content = child.child("w:sdtContent");
      items.push_back({.kind = ItemKind::kSpan,
                       .nodes = {child, content},
                       .inner = ReadItemsIn(content, depth + 1)});
    } else if (depth < kDeepest &&
               (Among(name, kSpans) ||
                (name == "w:fldSimple" && HasWords(child.attribute("w:instr").value())))) {
      items.push_back(
          {.kind = ItemKind::kSpan, .nodes = {child}, .inner = ReadItemsIn(child, depth + 1)});
    } else {
      const bool is_word = name == "w:fldSimple" && ShowsText(child);
      items.push_back({.kind = ItemKind::kAlone, .nodes = {child}, .is_word = is_word});
    }
  }
  return items;
}

std::vector<OfficeItem> ReadItemsIn(pugi::xml_node element, size_t depth) {
  const auto children = element.children();
  return ReadItems(std::vector<pugi::xml_node>(children.begin(), children.end()), depth);
}

}  // namespace

std::vector<OfficeItem> ReadWordItems(pugi::xml_node paragraph) {
  DivideFieldRuns(paragraph);
  return ReadItemsIn(paragraph, /*depth=*/0);
}

}  // namespace millrace::server
