#pragma once

#include <string>
#include <string_view>

namespace millrace::models {

// The English name of a BCP 47 tag, such as "Portuguese" of "pt" and "Portuguese (BR)" of "pt-BR";
// the tag itself where none is known.
std::string LanguageName(std::string_view tag);

}  // namespace millrace::models
