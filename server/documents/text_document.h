#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::server {

// Turns a text in UTF-16 with a byte order mark, or one that is not UTF-8 but could be
// windows-1252, into UTF-8, as old subtitles need it.
void TurnIntoUtf8(std::string& text);

// Turns windows-1252, of which ISO 8859-1 is a part, into UTF-8.
std::string FromWindows1252(std::string_view bytes);

// Takes a byte order mark off the beginning of a text, and returns it; empty: there is none.
// InvalidArgument if the text is not valid UTF-8.
absl::StatusOr<std::string> TakeByteOrderMark(std::string& text);

}  // namespace millrace::server
