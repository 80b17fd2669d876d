#pragma once

#include "pugixml.hpp"

namespace millrace::server {

// Joins what LibreOffice divides into spans for its comparison of documents: a span whose style
// changes nothing that is seen becomes text, and those side by side that look alike become one.
void JoinSpans(const pugi::xml_document& document);

}  // namespace millrace::server
