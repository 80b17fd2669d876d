#include "server/documents/xml_edits.h"

#include <algorithm>
#include <utility>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Returns the place behind the > of a tag.
size_t TagEnd(std::string_view text, size_t begin) {
  char quote = '\0';
  for (size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != '\0') {
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '>') {
      return at + 1;
    }
  }
  return text.size();
}

}  // namespace

size_t XmlEdits::BeginOf(pugi::xml_node node) const {
  // pugixml knows the place of the name of an element, and of the value of other nodes.
  const auto place = static_cast<size_t>(node.offset_debug());
  switch (node.type()) {
    case pugi::node_element:
      return place - 1;
    case pugi::node_comment:
      return place - 4;
    case pugi::node_cdata:
      return place - 9;
    case pugi::node_pi:
    case pugi::node_declaration:
      return place - 2;
    default:
      return place;
  }
}

size_t XmlEdits::EndOf(pugi::xml_node node) const {
  if (const pugi::xml_node next = node.next_sibling()) return BeginOf(next);
  const pugi::xml_node parent = node.parent();
  if (parent.type() == pugi::node_document) return source_.find_last_not_of(kSpace) + 1;
  return source_.rfind("</", EndOf(parent) - 1);
}

std::string_view XmlEdits::TagOf(pugi::xml_node element) const {
  const size_t begin = BeginOf(element);
  return source_.substr(begin, TagEnd(source_, begin) - begin);
}

void XmlEdits::Replace(size_t begin, size_t end, std::string text) {
  edits_.push_back({begin, end, std::move(text)});
}

std::string XmlEdits::Apply() {
  std::ranges::stable_sort(edits_, {}, &Edit::begin);
  std::string out;
  size_t at = 0;
  for (const Edit& edit : edits_) {
    out += source_.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  return out += source_.substr(at);
}

std::string WithAttribute(std::string_view tag, std::string_view name, const char* value) {
  const std::string added = value == nullptr ? "" : StrCat(" ", name, "=\"", value, "\"");
  size_t at = tag.find_first_of(StrCat(kSpace, "/>"), 1);
  for (;;) {
    const size_t space = at;
    at = std::min(tag.find_first_not_of(kSpace, at), tag.size() - 1);
    if (tag[at] == '/' || tag[at] == '>')
      return StrCat(tag.substr(0, space), added, tag.substr(space));
    const size_t equals = tag.find('=', at);
    const std::string_view found = tag.substr(at, tag.find_first_of(StrCat(kSpace, "="), at) - at);
    const size_t quote = tag.find_first_of("\"'", equals);
    at = tag.find(tag[quote], quote + 1) + 1;
    if (found == name) return StrCat(tag.substr(0, space), added, tag.substr(at));
  }
}

}  // namespace millrace::server
