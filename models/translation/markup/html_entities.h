#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::translation {

// The character of &nbsp;.
inline constexpr std::string_view kNoBreakSpace = "\u00a0";

// Decodes an HTML entity at the front of `text`, such as &eacute;, &#233; or the old &eacute
// without a semicolon, to UTF-8. Returns its bytes in the text; 0 if there is none or its name is a
// rare one.
size_t ReadEntity(std::string_view text, std::string& character);
// Returns the length in bytes of text at the front that has the form of an entity; 0 if there is
// none.
size_t EntityBytes(std::string_view text);
// Returns the bytes of an escaped tag at the front, such as &lt;b&gt; or &lt;img src="x"/&gt;; 0 if
// there is none. &lt;a remark&gt; is none.
size_t EscapedTagBytes(std::string_view text);

// Returns true for a character that models read with the words around it, although the text writes
// it as an entity at [begin, end): a space, a letter, or an apostrophe between letters.
bool IsOfWords(std::string_view character, std::string_view text, size_t begin, size_t end);

}  // namespace millrace::translation
