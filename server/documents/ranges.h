#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "pugixml.hpp"
#include "server/documents/office_paragraph.h"

namespace millrace::server {

// An element that begins or ends a range of a paragraph, such as that of a bookmark or a comment.
// The two have the same kind and id.
struct RangeMark {
  enum class Place : unsigned char { kNone, kBegin, kEnd };

  Place place = Place::kNone;
  std::string_view kind = {};
  std::string_view id = {};
};
using RangeMarkReader = RangeMark(pugi::xml_node);

// Returns the index of the element that ends the range which nodes[begin] begins; 0: it begins
// none, or none that ends among the next few hundred nodes.
size_t RangeEnd(std::span<const pugi::xml_node> nodes, size_t begin, RangeMarkReader* read);

// Returns a range as an item whose marks stay around the translation of its text. `inside`: what is
// between the first and the last of `nodes`.
OfficeItem RangeItem(std::span<const pugi::xml_node> nodes, std::vector<OfficeItem> inside);

}  // namespace millrace::server
