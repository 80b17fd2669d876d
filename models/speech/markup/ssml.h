#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "models/speech/markup/marked_text.h"

namespace millrace::speech {

// Reads a document of the subset of SSML 1.1 that docs/speech.md lists. White space is one space.
// InvalidArgument names the element, the attribute and the value that are wrong or not supported,
// with the line and the column; so it does for a DOCTYPE, an entity beyond XML's own five, and what
// nests too deeply. Nothing is ever read but the document. Thread-safe; linear time.
absl::StatusOr<MarkedText> ParseSsml(std::string_view document, const MarkupContext& context);

// Does the same for what may stand within <speak>: text and whole elements, among which <speak>
// itself may be.
absl::StatusOr<MarkedText> ParseSsmlFragment(std::string_view fragment,
                                             const MarkupContext& context);

}  // namespace millrace::speech
