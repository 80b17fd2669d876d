#pragma once

#include <string>

namespace millrace::reference {

// Returns text as the man macros print it unchanged: backslashes and hyphens are escaped, and so is
// a dot or an apostrophe that begins a line.
std::string Roff(const std::string& text);

// Returns text in a font that is B (bold) or I (italic), escaped.
std::string InFont(char font, const std::string& text);

// Returns the arguments of a macro as one quoted argument.
std::string Quoted(const std::string& text);

}  // namespace millrace::reference
