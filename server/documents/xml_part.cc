#include "server/documents/xml_part.h"

#include <expat.h>

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::server {
namespace {

// Elements of documents have a few dozen at most.
constexpr ptrdiff_t kMostAttributes = 256;

class StringWriter final : public pugi::xml_writer {
 public:
  void write(const void* data, size_t size) override {
    out_.append(static_cast<const char*>(data), size);
  }
  std::string Take() { return std::move(out_); }

 private:
  std::string out_;
};

absl::Status Bad(std::string_view part, std::string_view what) {
  return InvalidArgument("file: ", part, " ", what);
}

}  // namespace

absl::StatusOr<std::unique_ptr<pugi::xml_document>> ReadXml(std::string_view part,
                                                            std::string_view content,
                                                            const DocumentLimits& limits) {
  if (!models::IsValidUtf8(content)) return Bad(part, "is not valid UTF-8");
  auto document = std::make_unique<pugi::xml_document>();
  constexpr unsigned kOptions = pugi::parse_default | pugi::parse_ws_pcdata |
                                pugi::parse_declaration | pugi::parse_doctype |
                                pugi::parse_comments | pugi::parse_pi;
  const pugi::xml_parse_result result =
      document->load_buffer(content.data(), content.size(), kOptions, pugi::encoding_utf8);
  if (!result) {
    return Bad(part, StrCat("is not well-formed XML: ", result.description(), " at byte ",
                            static_cast<size_t>(result.offset)));
  }
  for (const pugi::xml_node node : document->children()) {
    if (node.type() == pugi::node_doctype) return Bad(part, "has a DOCTYPE, which is not allowed");
  }
  size_t depth = 0;
  for (pugi::xml_node node = document->first_child(); node;) {
    const auto attributes = node.attributes();
    if (std::distance(attributes.begin(), attributes.end()) > kMostAttributes) {
      return Bad(part, StrCat("has an element of more than ", kMostAttributes,
                              " attributes, which is the limit"));
    }
    if (const pugi::xml_node child = node.first_child()) {
      node = child;
      if (++depth >= limits.xml_depth) {
        return Bad(part, StrCat("has elements nested deeper than ", limits.xml_depth,
                                ", which is the limit"));
      }
      continue;
    }
    while (node && !node.next_sibling() && depth > 0) {
      node = node.parent();
      --depth;
    }
    node = node.next_sibling();
  }
  return document;
}

std::string WriteXml(pugi::xml_node node) {
  StringWriter writer;
  node.print(writer, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return writer.Take();
}

bool HasValidNames(std::string_view xml) {
  const std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser(
      XML_ParserCreateNS("UTF-8", ' '), XML_ParserFree);
  return parser != nullptr && XML_Parse(parser.get(), xml.data(), static_cast<int>(xml.size()),
                                        /*isFinal=*/1) == XML_STATUS_OK;
}

std::string_view LocalName(pugi::xml_node node) {
  const std::string_view name = node.name();
  return name.substr(name.find(':') + 1);  // npos + 1 is the beginning
}

pugi::xml_node NextNode(pugi::xml_node node, pugi::xml_node root, bool skip) {
  if (!skip) {
    if (const pugi::xml_node child = node.first_child()) return child;
  }
  while (node && node != root) {
    if (const pugi::xml_node next = node.next_sibling()) return next;
    node = node.parent();
  }
  return {};
}

}  // namespace millrace::server
