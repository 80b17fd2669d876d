#pragma once

#include <string>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Returns the translation of a text of a few words as interfaces and greetings write it, such as
// "Curtir" for "Like"; empty if the table has none. A translation with a capital is only for texts
// that begin with one. Languages are BCP 47. Thread-safe.
std::string_view InterfaceWords(std::string_view text, std::string_view source_language,
                                std::string_view target_language);
// Returns the same for a text with numbers and kept spans, each of which is a @ in the table: "há @
// min". They stay as they are, as stand-ins, and in their order. Empty for a text with marks.
std::string InterfacePhrase(const MarkedText& source, std::string_view source_language,
                            std::string_view target_language);
// Returns a text without the marks at its end.
std::string_view WithoutEndMarks(std::string_view text);

}  // namespace millrace::translation
