#pragma once

#include <string_view>

namespace millrace::translation {

// How an element of HTML, named in lower case, stands among words.

// Returns true for elements within a sentence, such as b and img; every other element separates
// blocks.
bool IsInlineElement(std::string_view name);
// Returns true for elements that have no end tag, such as br.
bool HasNoEndTag(std::string_view name);
// Returns true for elements within a sentence whose content is code, such as kbd.
bool IsInlineCode(std::string_view name);
// Returns true for elements whose content is never translated, such as script.
bool IsUntouchedElement(std::string_view name);
// Returns true for the annotations of ruby text, which stay as they are.
bool IsRubyAnnotation(std::string_view name);
// Returns true for elements of HTML that are not within a sentence.
bool IsBlockElement(std::string_view name);
// Returns true for those of them that are not words about a page in plain text either: p, li, td.
bool IsParagraphElement(std::string_view name);
// Returns true for the elements by which translation tools stand for what they took out of a
// sentence, such as b0, x1 or g12, which HTML does not know.
bool IsPlaceholderElement(std::string_view name);

}  // namespace millrace::translation
