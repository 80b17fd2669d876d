#pragma once

#include <string>
#include <string_view>

#include "models/text/trim.h"

namespace millrace::translation {

// Lists of words, such as those of a language that stand for numbers: word_lists.txt. The name of a
// list may end with the tag of its language. Thread-safe.
// Returns that tag: the first subtag of a language in small letters, pt of PT-BR.
std::string PrimarySubtag(std::string_view language);
bool HasList(std::string_view list);
bool IsListed(std::string_view list, std::string_view word);
using models::HasWord;

}  // namespace millrace::translation
