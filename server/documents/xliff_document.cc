#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/too_long.h"
#include "models/text/ascii.h"
#include "pugixml.hpp"
#include "server/documents/document_readers.h"
#include "server/documents/office_paragraph.h"
#include "server/documents/ranges.h"
#include "server/documents/text_document.h"
#include "server/documents/xml_edits.h"
#include "server/documents/xml_part.h"

namespace millrace::server {
namespace {

using ItemKind = OfficeItem::Kind;

bool IsOneOf(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

pugi::xml_node ChildNamed(pugi::xml_node parent, std::string_view local_name) {
  return parent.find_child([local_name](pugi::xml_node child) {
    return child.type() == pugi::node_element && LocalName(child) == local_name;
  });
}

// Reads the elements that begin and that end a code or a comment.
RangeMark ReadXliffRange(pugi::xml_node node) {
  using Place = RangeMark::Place;
  const std::string_view name = LocalName(node);
  const bool begins = name == "bpt" || name == "bx";
  if (begins || name == "ept" || name == "ex") {
    const std::string_view pair = node.attribute("rid").value();
    return {begins ? Place::kBegin : Place::kEnd, "",
            pair.empty() ? node.attribute("id").value() : pair};
  }
  if (name == "sc" || name == "sm") return {Place::kBegin, name, node.attribute("id").value()};
  if (name == "ec" || name == "em")
    return {Place::kEnd, name == "ec" ? "sc" : "sm", node.attribute("startRef").value()};
  return {};
}

bool IsProtected(pugi::xml_node node) {
  return node.attribute("translate").value() == std::string_view("no") ||
         node.attribute("mtype").value() == std::string_view("protected");
}

// Returns true if an element may stand for what a program puts there, such as a name, rather than
// for markup.
bool IsVariable(pugi::xml_node node) {
  constexpr std::string_view kSigns = "{%$";
  if (std::string_view(node.attribute("id").value()).starts_with("INTERPOLATION")) return true;
  bool is_described = node.attribute("ctype") || node.attribute("type");
  for (const char* const shown : {"equiv-text", "equiv", "disp"}) {
    const pugi::xml_attribute description = node.attribute(shown);
    if (std::string_view(description.value()).find_first_of(kSigns) != std::string_view::npos)
      return true;
    is_described = is_described || description;
  }
  const std::string_view code = node.text().get();
  return code.find_first_of(kSigns) != std::string_view::npos ||
         (!is_described && code.find('<') == std::string_view::npos);
}

// Items that are nested deeper stay as they are, which bounds the stack.
constexpr size_t kDeepestItem = 64;

std::vector<OfficeItem> ReadXliffItems(std::span<const pugi::xml_node> nodes, size_t depth = 0) {
  constexpr std::array<std::string_view, 3> kSpans = {"g", "pc", "mrk"};
  std::vector<OfficeItem> items;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const pugi::xml_node node = nodes[i];
    if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata) {
      items.push_back({.text = node.value()});
    } else if (const size_t end = depth < kDeepestItem ? RangeEnd(nodes, i, ReadXliffRange) : 0;
               end > 0) {
      const auto range = nodes.subspan(i, end - i + 1);
      items.push_back(
          RangeItem(range, ReadXliffItems(range.subspan(1, range.size() - 2), depth + 1)));
      i = end;
    } else if (depth < kDeepestItem && IsOneOf(LocalName(node), kSpans) && !IsProtected(node)) {
      const auto inner = node.children();
      const std::vector<pugi::xml_node> children(inner.begin(), inner.end());
      items.push_back(
          {.kind = ItemKind::kSpan, .nodes = {node}, .inner = ReadXliffItems(children, depth + 1)});
    } else {
      const bool is_line = node.attribute("ctype").value() == std::string_view("lb");
      items.push_back({.kind = is_line ? ItemKind::kDivider : ItemKind::kAlone,
                       .nodes = {node},
                       .is_word = !is_line && IsVariable(node)});
    }
  }
  return items;
}

bool IsBlankElement(pugi::xml_node element) {
  for (const pugi::xml_node child : element.children()) {
    if (child.type() == pugi::node_element) return false;
    if (std::string_view(child.value()).find_first_not_of(" \t\r\n") != std::string_view::npos)
      return false;
  }
  return true;
}

// Returns true if a target has a translation that somebody made.
bool IsTranslated(pugi::xml_node target, std::string_view state) {
  constexpr std::array<std::string_view, 3> kUntranslated = {"new", "needs-translation", "initial"};
  return !IsBlankElement(target) && !IsOneOf(state, kUntranslated);
}

void SetAttribute(pugi::xml_node element, const char* name, std::string_view value) {
  pugi::xml_attribute attribute = element.attribute(name);
  if (!attribute) attribute = element.append_attribute(name);
  attribute.set_value(std::string(value).c_str());
}

// Returns the encoding that the declaration of a document names; a place of its text. Empty: it
// names none.
std::string_view DeclaredEncoding(std::string_view xml) {
  if (!xml.starts_with("<?xml")) return {};
  const std::string_view declaration = xml.substr(0, xml.find("?>"));
  const size_t name = declaration.find("encoding");
  const size_t open = declaration.find_first_of("\"'", name);
  if (name == std::string_view::npos || open == std::string_view::npos) return {};
  const size_t close = declaration.find(declaration[open], open + 1);
  return close == std::string_view::npos ? std::string_view()
                                         : declaration.substr(open + 1, close - open - 1);
}

// Turns a document into UTF-8, and has it declare that.
absl::Status ReadEncoding(std::string& bytes) {
  constexpr std::array<std::string_view, 3> kWesternNames = {"iso-8859-1", "latin1",
                                                             "windows-1252"};
  constexpr std::array<std::string_view, 4> kUnicodeNames = {"", "utf-8", "utf8", "us-ascii"};
  const bool is_utf16 = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  if (is_utf16) TurnIntoUtf8(bytes);
  const bool has_mark = bytes.starts_with("\xEF\xBB\xBF");
  const std::string_view declared =
      DeclaredEncoding(std::string_view(bytes).substr(has_mark ? 3 : 0));
  const std::string encoding = models::AsciiLower(declared);
  const size_t begin = declared.empty() ? 0 : static_cast<size_t>(declared.data() - bytes.data());
  if (is_utf16 ? encoding.starts_with("utf-16") : has_mark) {
    // The mark says what the bytes are.
  } else if (IsOneOf(encoding, kWesternNames)) {
    std::string text = FromWindows1252(bytes);
    bytes = std::move(text);
  } else if (!is_utf16 && !IsOneOf(encoding, kUnicodeNames)) {
    return InvalidArgument(
        "file: declares the encoding '", declared.substr(0, 64),
        "'; allowed are UTF-8, UTF-16 with a byte order mark, ISO-8859-1 and windows-1252");
  }
  if (!declared.empty() && encoding != "utf-8" && encoding != "utf8")
    bytes.replace(begin, encoding.size(), "UTF-8");
  return absl::OkStatus();
}

class XliffDocument final : public Document {
 public:
  XliffDocument(std::string bytes, std::unique_ptr<pugi::xml_document> xml, std::string mark,
                std::string_view target_language)
      : bytes_(std::move(bytes)),
        xml_(std::move(xml)),
        mark_(std::move(mark)),
        target_language_(target_language),
        edits_(bytes_) {}

  absl::Status Read() {
    const pugi::xml_node root = xml_->document_element();
    const std::string_view version = root.attribute("version").value();
    if (LocalName(root) != "xliff") {
      return InvalidArgument("file: has no element xliff, as a .xliff document has");
    }
    if (!version.starts_with("1.") && !version.starts_with("2.")) {
      return InvalidArgument("file: is of version '", version,
                             "' of XLIFF; only 1.0 to 2.2 are supported");
    }
    is_2_ = version.starts_with("2.");
    ReadUnits(root);
    return absl::OkStatus();
  }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return models::TextFormat::kHtml; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override {
    for (size_t i = 0; i < paragraphs_.size(); ++i) paragraphs_[i].Write(translations[i]);
    const bool has_returns = bytes_.find("\r\n") != std::string::npos;
    for (Target& target : targets_) {
      if (!is_2_) {
        SetAttribute(target.element, "state", "needs-review-translation");
        SetAttribute(target.element, "state-qualifier", "mt-suggestion");
      } else {  // a finer state is one of the state that was
        std::string tag = WithAttribute(target.unit_tag, "state", "translated");
        tag = WithAttribute(tag, "subState", nullptr);
        edits_.Replace(target.unit, target.unit + target.unit_tag.size(), std::move(tag));
      }
      std::string written = WriteXml(target.element);
      if (has_returns) absl::StrReplaceAll({{"\n", "\r\n"}}, &written);
      edits_.Replace(target.begin, target.end, target.indent + written);
    }
    const pugi::xml_node root = xml_->document_element();
    if (is_2_ && !targets_.empty()) DeclareLanguage(root, "trgLang", "srcLang");
    for (const pugi::xml_node file : root.children()) {
      if (!is_2_ && LocalName(file) == "file")
        DeclareLanguage(file, "target-language", "source-language");
    }
    const std::string written = edits_.Apply();
    if (HasValidNames(bytes_) && !HasValidNames(written))
      return Internal("the translation is not valid XML");
    return mark_ + written;
  }

 private:
  // A target, and where it is written.
  struct Target {
    pugi::xml_node element;
    size_t begin = 0;
    size_t end = 0;
    std::string indent;         // before a new one
    size_t unit = 0;            // where its unit or segment begins
    std::string_view unit_tag;  // the tag there
  };

  // Declares the target language where an element names none, or that of the source.
  void DeclareLanguage(pugi::xml_node element, const char* name, const char* source_name) {
    const std::string_view declared = element.attribute(name).value();
    const bool is_source = declared == element.attribute(source_name).value();
    if (target_language_.empty() || (!declared.empty() && !is_source)) return;
    const size_t begin = edits_.BeginOf(element);
    const std::string_view tag = edits_.TagOf(element);
    edits_.Replace(begin, begin + tag.size(), WithAttribute(tag, name, target_language_.c_str()));
  }

  // Reads the units in an element, in order.
  void ReadUnits(pugi::xml_node root) {
    bool skip = false;
    for (pugi::xml_node node = root; node; node = NextNode(node, root, skip)) {
      const std::string_view name = LocalName(node);
      skip = name == "alt-trans" || name == "matches";
      if (is_2_ ? name == "segment" : name == "trans-unit") {
        if (InheritedBy(node, "translate") != "no") ReadUnit(node);
        skip = true;
      }
    }
  }

  // Reads a unit (1.2) or segment (2). Its target is made a copy of the source, whose text the
  // translation replaces.
  void ReadUnit(pugi::xml_node unit) {
    const pugi::xml_node source = ChildNamed(unit, "source");
    pugi::xml_node target = ChildNamed(unit, "target");
    const std::string_view state = (is_2_ ? unit : target).attribute("state").value();
    const bool is_done = unit.attribute("approved").value() == std::string_view("yes");
    if (!source || is_done || (target && IsTranslated(target, state))) return;
    const pugi::xml_node cut = ChildNamed(unit, "seg-source");
    // Tools show a unit of codes alone as untranslated, too, if it has no target.
    if (IsBlankElement(source)) return;
    Target place;
    place.unit = edits_.BeginOf(unit);
    place.unit_tag = edits_.TagOf(unit);
    if (target) {
      place.begin = edits_.BeginOf(target);
      place.end = edits_.EndOf(target);
    } else {
      place.begin = place.end = edits_.EndOf(cut ? cut : source);
      place.indent = IndentOf(source);
      target = InsertTarget(unit, source, cut ? cut : source);
    }
    place.element = target;
    while (target.first_child()) target.remove_child(target.first_child());
    for (const pugi::xml_node child : (cut ? cut : source).children()) target.append_copy(child);
    const std::string_view space = InheritedBy(source, "xml:space");
    const auto add = [&](pugi::xml_node element) {
      const auto children = element.children();
      const std::vector<pugi::xml_node> nodes(children.begin(), children.end());
      OfficeParagraph paragraph(element, ReadXliffItems(nodes), nullptr, space == "preserve");
      if (!paragraph.has_text()) return;
      texts_.push_back(paragraph.html());
      paragraphs_.push_back(std::move(paragraph));
    };
    bool has_segments = false;
    for (const pugi::xml_node child : target.children()) {
      if (child.attribute("mtype").value() != std::string_view("seg")) continue;
      has_segments = true;
      add(child);
    }
    if (!has_segments) add(target);
    targets_.push_back(std::move(place));
  }

  // Inserts an empty target.
  static pugi::xml_node InsertTarget(pugi::xml_node unit, pugi::xml_node source,
                                     pugi::xml_node before) {
    std::string name = source.name();
    name.replace(name.size() - LocalName(source).size(), std::string::npos, "target");
    pugi::xml_node target = unit.insert_child_after(name.c_str(), before);
    if (const pugi::xml_attribute space = source.attribute("xml:space")) target.append_copy(space);
    return target;
  }

  // Returns the white space before an element.
  std::string IndentOf(pugi::xml_node element) const {
    const pugi::xml_node space = element.previous_sibling();
    if (space.type() != pugi::node_pcdata) return {};
    const size_t begin = edits_.BeginOf(space);
    return bytes_.substr(begin, edits_.BeginOf(element) - begin);
  }

  // Returns the attribute that holds for an element: its own, or the nearest one around it.
  static std::string_view InheritedBy(pugi::xml_node element, const char* name) {
    for (; element; element = element.parent()) {
      if (const pugi::xml_attribute attribute = element.attribute(name)) return attribute.value();
    }
    return {};
  }

  const std::string bytes_;  // the file without its byte order mark
  const std::unique_ptr<pugi::xml_document> xml_;
  const std::string mark_;
  const std::string target_language_;
  bool is_2_ = false;
  std::vector<OfficeParagraph> paragraphs_;
  std::vector<Target> targets_;
  XmlEdits edits_;
  std::vector<std::string> texts_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadXliff(std::string bytes, const DocumentLimits& limits,
                                                    std::string_view target_language) {
  MILLRACE_RETURN_IF_ERROR(ReadEncoding(bytes));
  MILLRACE_ASSIGN_OR_RETURN(std::string mark, TakeByteOrderMark(bytes));
  if (bytes.size() > limits.xml_bytes) {
    return TooLongError(StrCat("file: has ", bytes.size(), " bytes of XML; at most ",
                               limits.xml_bytes, " are allowed"));
  }
  MILLRACE_ASSIGN_OR_RETURN(auto xml, ReadXml("the document", bytes, limits));
  auto document = std::make_unique<XliffDocument>(std::move(bytes), std::move(xml), std::move(mark),
                                                  target_language);
  MILLRACE_RETURN_IF_ERROR(document->Read());
  return document;
}

}  // namespace millrace::server
