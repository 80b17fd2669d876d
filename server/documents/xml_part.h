#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "pugixml.hpp"
#include "server/documents/document.h"

namespace millrace::server {

// Reads XML in UTF-8 and keeps its white space. InvalidArgument, which begins with "file: " and
// names the part, if it is not well formed, is nested deeper than the limit, or has a DOCTYPE.
// Entities are never expanded but for those of XML itself.
absl::StatusOr<std::unique_ptr<pugi::xml_document>> ReadXml(std::string_view part,
                                                            std::string_view content,
                                                            const DocumentLimits& limits);
// Returns a document, or an element of one, as it was written, but for what was changed.
std::string WriteXml(pugi::xml_node node);

// Returns true for well-formed XML that declares the prefixes of its names, as every reader of
// office documents demands.
bool HasValidNames(std::string_view xml);

// Returns the name of an element without the prefix of its namespace.
std::string_view LocalName(pugi::xml_node node);

// Returns the node behind `node` in reading order, below `root`; null: there is none. Does not go
// into `node` if `skip` is true.
pugi::xml_node NextNode(pugi::xml_node node, pugi::xml_node root, bool skip = false);

}  // namespace millrace::server
