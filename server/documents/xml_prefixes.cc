#include "server/documents/xml_prefixes.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "models/core/strings.h"
#include "server/documents/xml_part.h"

namespace millrace::server {
namespace {

struct KnownNamespace {
  std::string_view prefix;
  std::string_view address;
};

// Office Open XML has two addresses for each of its namespaces.
constexpr std::array<KnownNamespace, 14> kKnown = {{
    {"w", "http://schemas.openxmlformats.org/wordprocessingml/2006/main"},
    {"w", "http://purl.oclc.org/ooxml/wordprocessingml/main"},
    {"w14", "http://schemas.microsoft.com/office/word/2010/wordml"},
    {"a", "http://schemas.openxmlformats.org/drawingml/2006/main"},
    {"a", "http://purl.oclc.org/ooxml/drawingml/main"},
    {"c", "http://schemas.openxmlformats.org/drawingml/2006/chart"},
    {"c", "http://purl.oclc.org/ooxml/drawingml/chart"},
    {"cx", "http://schemas.microsoft.com/office/drawing/2014/chartex"},
    {"p", "http://schemas.openxmlformats.org/presentationml/2006/main"},
    {"p", "http://purl.oclc.org/ooxml/presentationml/main"},
    {"text", "urn:oasis:names:tc:opendocument:xmlns:text:1.0"},
    {"office", "urn:oasis:names:tc:opendocument:xmlns:office:1.0"},
    {"presentation", "urn:oasis:names:tc:opendocument:xmlns:presentation:1.0"},
    {"loext", "urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"},
}};

// Returns the prefix that an attribute declares, which may be empty; nullptr: it declares none.
const char* DeclaredPrefix(pugi::xml_attribute attribute) {
  constexpr std::string_view kDeclares = "xmlns";
  const std::string_view name = attribute.name();
  if (name == kDeclares) return "";
  const bool declares = name.starts_with(kDeclares) && name[kDeclares.size()] == ':';
  return declares ? attribute.name() + kDeclares.size() + 1 : nullptr;
}

// Returns the known namespaces that a document declares by other prefixes.
std::vector<KnownNamespace> FindOthers(const pugi::xml_document& document) {
  std::vector<KnownNamespace> others;
  for (pugi::xml_node node = document; node; node = NextNode(node, document)) {
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const char* const declared = DeclaredPrefix(attribute);
      if (declared == nullptr) continue;
      const auto* const known =
          std::ranges::find(kKnown, std::string_view(attribute.value()), &KnownNamespace::address);
      if (known != kKnown.end() && known->prefix != declared &&
          std::ranges::find(others, known->prefix, &KnownNamespace::prefix) == others.end())
        others.push_back(*known);
    }
  }
  return others;
}

class Renamer {
 public:
  explicit Renamer(const std::vector<KnownNamespace>& others) : others_(others) {}

  // Renames an element, its attributes, and what is inside. The depth of a document is bounded.
  void Visit(pugi::xml_node node) {
    std::vector<std::string> declared;
    for (const pugi::xml_attribute attribute : node.attributes()) {
      const char* const prefix = DeclaredPrefix(attribute);
      if (prefix == nullptr) continue;
      declared.emplace_back(prefix);
      scope_[declared.back()].push_back(attribute.value());
    }
    for (pugi::xml_attribute attribute : node.attributes()) {
      const std::string_view name = attribute.name();
      const char* const prefix = DeclaredPrefix(attribute);
      if (prefix != nullptr) {
        if (IsTaken(prefix, attribute.value()))
          attribute.set_name(StrCat("xmlns:", prefix, kOther).c_str());
      } else if (name.find(':') != std::string_view::npos) {  // others are in no namespace
        attribute.set_name(Renamed(name).c_str());
      }
    }
    if (node.type() == pugi::node_element) node.set_name(Renamed(node.name()).c_str());
    for (const pugi::xml_node child : node.children()) Visit(child);
    for (const std::string& prefix : declared) scope_[prefix].pop_back();
  }

 private:
  static constexpr std::string_view kOther = "-other";

  // Returns true for a known prefix that stands for something else.
  bool IsTaken(std::string_view prefix, std::string_view address) const {
    const auto known = std::ranges::find(others_, prefix, &KnownNamespace::prefix);
    return known != others_.end() && known->address != address;
  }

  std::string Renamed(std::string_view name) const {
    const size_t colon = name.find(':');
    const bool has_prefix = colon != std::string_view::npos;
    const std::string_view prefix = has_prefix ? name.substr(0, colon) : std::string_view();
    const std::string_view local = has_prefix ? name.substr(colon + 1) : name;
    const auto addresses = scope_.find(prefix);
    if (addresses == scope_.end() || addresses->second.empty()) return std::string(name);
    const std::string_view address = addresses->second.back();
    const auto known = std::ranges::find(others_, address, &KnownNamespace::address);
    if (known != others_.end()) return StrCat(known->prefix, ":", local);
    return IsTaken(prefix, address) ? StrCat(prefix, kOther, ":", local) : std::string(name);
  }

  const std::vector<KnownNamespace>& others_;
  // The addresses that each prefix has, of which the last one holds.
  std::map<std::string, std::vector<std::string_view>, std::less<>> scope_;
};

}  // namespace

void UseKnownPrefixes(pugi::xml_document& document) {
  const std::vector<KnownNamespace> others = FindOthers(document);
  if (others.empty()) return;
  Renamer(others).Visit(document);
  pugi::xml_node root = document.document_element();
  for (const KnownNamespace& known : others) {
    const std::string name = StrCat("xmlns:", known.prefix);
    if (!root.attribute(name.c_str()))
      root.append_attribute(name.c_str()) = std::string(known.address).c_str();
  }
}

}  // namespace millrace::server
