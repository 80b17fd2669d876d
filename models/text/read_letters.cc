#include "models/text/read_letters.h"

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/foreign_script.h"
#include "models/text/text_place.h"

namespace millrace::models {

absl::Status CheckCharacter(std::string_view text, size_t at, const CodePoint& point,
                            const ReadLetters& letters) {
  const char32_t c = point.value;
  const std::string_view written = text.substr(at, point.bytes);
  if (c == 0xFFFD && written != "\xEF\xBF\xBD") return InvalidAt("text: ", at, " is not UTF-8");
  if (c < 0x80 || !IsLetter(c) || letters.reads(c)) return absl::OkStatus();
  const std::string_view script = ForeignScript(c);
  if (script.empty()) return absl::OkStatus();
  return InvalidAt(StrCat("text: the character '", written, "' at "), at,
                   StrCat(" is ", script, letters.refusal));
}

absl::Status CheckCharacters(std::string_view text, const ReadLetters& letters) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeAt(text, at);
    MILLRACE_RETURN_IF_ERROR(CheckCharacter(text, at, point, letters));
    at += point.bytes;
  }
  return absl::OkStatus();
}

}  // namespace millrace::models
