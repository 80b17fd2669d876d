#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// Returns the English name of a BCP 47 tag, such as "Portuguese" for "pt" and "Portuguese (BR)" for
// "pt-BR", or the tag itself if its name is unknown.
std::string LanguageName(std::string_view tag);

}  // namespace millrace::models
