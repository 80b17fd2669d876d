#pragma once

#include <string>
#include <string_view>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// One table, readings.txt, has the words that small models read otherwise than people do:
// translations of a few words as interfaces and greetings write them, and parts of texts that a
// model reads as other words. Languages are BCP 47. Thread-safe.

// Lets a model read parts of a text in another way: hours as the target language writes them, the
// sign of a number, units of time, short names of days. An unknown target is empty.
void PutReadings(MarkedText& marked, std::string_view language, std::string_view target_language);

// Returns the translation of a text of a few words, such as "Curtir" for "Like"; empty if the table
// has none. A translation with a capital is only for texts that begin with one. Numbers and kept
// spans, each of which is a @ in the table ("há @ min"), stay as they are, as stand-ins, and in
// their order. Empty for a text with marks.
std::string InterfacePhrase(const MarkedText& source, std::string_view source_language,
                            std::string_view target_language);

// Returns a text without the marks at its end.
std::string_view WithoutEndMarks(std::string_view text);

}  // namespace millrace::translation
