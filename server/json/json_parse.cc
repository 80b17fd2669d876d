#include "server/json/json_parse.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
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
  const std::string_view words = error.what();
  if (words.find("surrogate") != words.npos) {
    return InvalidArgument(what, " is not valid JSON at byte ", at,
                           ": escapes of \\ud800 to \\udfff are halves of a character and stand in "
                           "pairs");
  }
  if (error.id != kOutOfRange) return NotJsonAt(what, text, at);
  // The library quotes the number in its words.
  const size_t begin = std::min(words.find('\''), words.size());
  return InvalidArgument(what,
                         " is not valid JSON: a number is out of range: ", words.substr(begin, 64));
}

namespace {

// Finds a name that an object has twice, of whose values the library would keep the last one, and
// others the first. It is told of each part of a text as the library reads it.
class NamesOnce {
 public:
  bool operator()(int /*depth*/, json::parse_event_t event, const json& part) {
    if (event == json::parse_event_t::object_start) {
      names_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      names_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& name = part.get_ref<const std::string&>();
      if (!names_.back().insert(name).second) twice_ = name;
    }
    return true;
  }

  const std::optional<std::string>& twice() const { return twice_; }

 private:
  std::vector<absl::flat_hash_set<std::string>> names_;  // one set for each open object
  std::optional<std::string> twice_;
};

}  // namespace

absl::StatusOr<json> ParseJson(std::string_view what, std::string_view text) {
  if (!models::IsValidUtf8(text)) return InvalidArgument(what, " is not valid UTF-8");
  MILLRACE_RETURN_IF_ERROR(CheckJsonSize(what, text));
  // The library would take it for the end of the text.
  if (const size_t zero = text.find('\0'); zero != text.npos)
    return NotJsonAt(what, text, zero + 1);
  try {
    NamesOnce names;
    json value = json::parse(text, std::ref(names));
    if (!names.twice()) return value;
    return InvalidArgument(what, " has the member ", Shown(*names.twice()), " twice");
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
