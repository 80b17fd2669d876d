#pragma once

#include "pugixml.hpp"

namespace millrace::server {

// Gives elements and attributes of the namespaces of office documents the prefixes by which the
// readers know them ("w:p"), whatever prefixes the document declares for these namespaces. A
// document that has the usual ones, as nearly all have, stays as it is. Declarations stay, because
// values of attributes may name their prefixes.
void UseKnownPrefixes(pugi::xml_document& document);

}  // namespace millrace::server
