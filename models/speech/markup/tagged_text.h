#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "models/speech/markup/marked_text.h"

namespace millrace::speech {

// Reads plain text with tags: "[pause:1.5s]" is silence; "[voice:name]", "[rate:80%]" and
// "[volume:soft]" hold until the next one of their kind, and with the value "default" until
// the end. A tag is [name:value], where the name is of letters and the value is without white
// space; other brackets are text. InvalidArgument says what is wrong with a tag, with its place, or
// that there is no tag of that name. Thread-safe; linear time.
absl::StatusOr<MarkedText> ParseTaggedText(std::string_view text, const MarkupContext& context);

}  // namespace millrace::speech
