#include "server/json/json_parse.h"

#include <algorithm>

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/json/json_member.h"
#include "server/json/json_size.h"

namespace millrace::server {

using nlohmann::json;

absl::Status NotJsonAt(std::string_view what, std::string_view text, size_t at) {
  if (at == 0 || at > text.size())
    return InvalidArgument(what, " is not valid JSON at byte ", at, ", where it ends");
  const std::string_view there = text.substr(at - 1, models::DecodeAt(text, at - 1).bytes);
  const auto byte = static_cast<unsigned char>(there[0]);
  constexpr unsigned char kFirstShown = 0x20;
  return InvalidArgument(what, " is not valid JSON at byte ", at, ", where ",
                         byte >= kFirstShown && models::IsValidUtf8(there)
                             ? Shown(there)
                             : StrCat("the byte ", int{byte}),
                         " stands");
}

absl::Status NotJson(std::string_view what, std::string_view text, size_t at,
                     const json::exception& error) {
  constexpr int kOutOfRange = 406;
  if (error.id != kOutOfRange) return NotJsonAt(what, text, at);
  // The library quotes the number in its words.
  const std::string_view words = error.what();
  const size_t begin = std::min(words.find('\''), words.size());
  return InvalidArgument(what,
                         " is not valid JSON: a number is out of range: ", words.substr(begin, 64));
}

absl::StatusOr<json> ParseJson(std::string_view what, std::string_view text) {
  if (!models::IsValidUtf8(text)) return InvalidArgument(what, " is not valid UTF-8");
  MILLRACE_RETURN_IF_ERROR(CheckJsonSize(what, text));
  // The library would take it for the end of the text.
  if (const size_t zero = text.find('\0'); zero != text.npos)
    return NotJsonAt(what, text, zero + 1);
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return NotJson(what, text, error.byte, error);
  } catch (const json::exception& error) {
    return NotJson(what, text, 0, error);
  }
}

absl::StatusOr<json> ParseObject(std::string_view what, std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(json value, ParseJson(what, text));
  if (value.is_object()) return value;
  return InvalidArgument(what, " must be a JSON object, not ", ShownKind(value));
}

}  // namespace millrace::server
