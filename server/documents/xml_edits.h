#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pugixml.hpp"

namespace millrace::server {

// Changes of a document in the bytes that it was read from, so that all else stays as it was
// written. Nodes must be asked for their places before the document changes.
class XmlEdits {
 public:
  // `source`: what the document was read from by ReadXml. It must outlive the edits.
  explicit XmlEdits(std::string_view source) : source_(source) {}

  // Return where a node begins and ends.
  size_t BeginOf(pugi::xml_node node) const;
  size_t EndOf(pugi::xml_node node) const;
  // Returns the bytes of the tag that an element begins with.
  std::string_view TagOf(pugi::xml_node element) const;

  // Puts `text` in the place of bytes. Edits must not overlap.
  void Replace(size_t begin, size_t end, std::string text);
  // Returns the source with all edits.
  std::string Apply();

 private:
  struct Edit {
    size_t begin = 0;
    size_t end = 0;
    std::string text;
  };

  std::string_view source_;
  std::vector<Edit> edits_;
};

// Returns the tag of an element with another value of an attribute, which it may lack. A null
// value: without the attribute.
std::string WithAttribute(std::string_view tag, std::string_view name, const char* value);

}  // namespace millrace::server
