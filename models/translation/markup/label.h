#pragma once

#include <cstddef>

#include "models/translation/markup/marked_text.h"

namespace millrace::translation {

// Returns where a sentence that is a label with something that needs no model ends its label, such
// as "File not found: notes.txt", "Port: USB-C", "404 - Not found", "⚙ Settings", "Thank you,
// {name}!" or "$5/month"; 0 if it is none. Models lose such a thing more often than within a
// sentence.
size_t LabelEnd(const MarkedText& marked);

// Returns true if a text has nothing to translate: numbers, kept spans, or one word that no
// language has, such as UTF-8 or notes.txt.
bool IsWordless(const MarkedText& marked);

}  // namespace millrace::translation
