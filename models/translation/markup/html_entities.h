#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace millrace::translation {

// The character of an HTML entity, such as &eacute;, &#233; or the old &eacute without its end, at
// the front of `text`, as UTF-8, and how many bytes of the text it takes; 0: none stands there, or
// one of the rarer names.
size_t ReadEntity(std::string_view text, std::string& character);
// Whether something in the form of an entity stands at the front; its bytes, else 0.
size_t EntityBytes(std::string_view text);
// The bytes of a tag that is shown as text, such as &lt;b&gt; or &lt;img src="x"/&gt;, at the
// front; 0: none stands there. &lt;a remark&gt; is none.
size_t EscapedTagBytes(std::string_view text);

}  // namespace millrace::translation
