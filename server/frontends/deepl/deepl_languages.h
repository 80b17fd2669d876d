#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/requests/translation_route.h"

namespace millrace::server {

// DeepL writes languages in upper case. A source has no region, so that is EN for en-GB. English
// and Portuguese as targets always have one: its clients refuse EN and PT there.

// Returns the code of a source language; the tag is one of BCP 47.
std::string DeepLSource(std::string_view tag);

// These return the answers to GET /v2/languages as JSON.
std::string DeepLSourcesBody(const std::vector<TranslationRoute>& routes);
std::string DeepLTargetsBody(const std::vector<TranslationRoute>& routes);

}  // namespace millrace::server
