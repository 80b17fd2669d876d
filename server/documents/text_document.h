#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "server/documents/document.h"

namespace millrace::server {

// Turns a text in UTF-16 with a byte order mark, or one that is not UTF-8 but could be
// windows-1252, into UTF-8, as old subtitles need it.
void TurnIntoUtf8(std::string& text);

// Turns windows-1252, of which ISO 8859-1 is a part, into UTF-8.
std::string FromWindows1252(std::string_view bytes);

// Takes a byte order mark off the beginning of a text, and returns it; empty: there is none.
// InvalidArgument if the text is not valid UTF-8.
absl::StatusOr<std::string> TakeByteOrderMark(std::string& text);

// Read files that are one text as a whole. What separates its paragraphs is kept by the readers of
// text, HTML and Markdown in models/translation/markup. Lines of plain text that an editor broke
// within a sentence are joined, and broken again.
absl::StatusOr<std::unique_ptr<Document>> ReadPlainText(std::string bytes,
                                                        const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadMarkdownText(std::string bytes,
                                                           const DocumentLimits& limits);
absl::StatusOr<std::unique_ptr<Document>> ReadHtmlText(std::string bytes,
                                                       const DocumentLimits& limits);

}  // namespace millrace::server
