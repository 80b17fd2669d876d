#include "server/frontends/openai/other_members.h"

#include <string>
#include <utility>

#include "models/core/shown.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_member.h"
#include "server/requests/kokoro_names.h"

namespace millrace::server {
namespace {

using nlohmann::json;

constexpr float kMaxVolume = 4;

// Reads one of Kokoro's letters, or a BCP 47 tag, which the model checks.
absl::Status TakeLanguageCode(const json& value, std::string_view name,
                              HttpSpeechRequest& request) {
  std::string code;
  if (absl::Status status = TakeString(value, name, code); !status.ok()) return status;
  if (code.size() != 1) {
    request.language_code = std::move(code);
    return absl::OkStatus();
  }
  request.language_code = KokoroLanguage(code[0]);
  if (!request.language_code.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(name, ": ", Shown(code),
             " is not allowed; it is one of a, b, e, f, h, i, j, p and z, or a tag such as en-US"));
}

absl::Status TakeVolume(const json& value, std::string_view name, float& out) {
  const std::string allowed = StrCat("0..", kMaxVolume);
  float volume = 0;
  if (absl::Status status = TakeFloat(value, name, allowed, volume); !status.ok()) return status;
  if (volume < 0 || volume > kMaxVolume) {
    return absl::InvalidArgumentError(
        StrCat(name, ": ", value.dump(), " is not allowed; it is a number of ", allowed));
  }
  out = volume;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<bool> TakeOtherMember(std::string_view name, const json& value, SpeechRoute route,
                                     HttpSpeechRequest& request) {
  absl::Status status;
  if (name == "lang_code") {
    status = TakeLanguageCode(value, name, request);
  } else if (name == "volume_multiplier") {
    status = TakeVolume(value, name, request.speech.volume);
  } else if (name == "stream") {
    status = TakeBool(value, name, request.stream);
  } else if (name == "return_timestamps" && route == SpeechRoute::kCaptioned) {
    status = TakeBool(value, name, request.return_timestamps);
  } else if (name == "return_timing") {
    status = TakeBool(value, name, request.return_timing);
  } else {
    return false;
  }
  if (!status.ok()) return status;
  return true;
}

}  // namespace millrace::server
