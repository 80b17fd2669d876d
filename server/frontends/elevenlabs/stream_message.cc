#include "server/frontends/elevenlabs/stream_message.h"

#include "models/core/errors.h"
#include "nlohmann/json.hpp"
#include "server/frontends/elevenlabs/speech_body.h"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"
#include "server/json/json_parse.h"
#include "server/security/api_key_store.h"

namespace millrace::server {
namespace {

using nlohmann::json;

constexpr size_t kMaxContextIdBytes = 256;

absl::Status TakeMessageMember(const std::string& name, const json& value, StreamMessage& message,
                               bool& known) {
  known = true;
  if (name == "text") return TakeString(value, name, message.text.emplace());
  if (name == "context_id" || name == "contextId") {
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, message.context_id));
    if (message.context_id.size() <= kMaxContextIdBytes) return absl::OkStatus();
    return InvalidArgument(std::string_view(name), ": has ", message.context_id.size(),
                           " bytes; at most ", kMaxContextIdBytes, " are allowed");
  }
  if (name == "flush") return TakeBool(value, name, message.flush);
  if (name == "close_context") return TakeBool(value, name, message.close_context);
  if (name == "close_socket") return TakeBool(value, name, message.close_socket);
  if (name == "voice_settings") return TakeVoiceSettings(value, message.speed, message.ignored);
  if (name == "xi_api_key" || name == "xi-api-key") return TakeString(value, name, message.api_key);
  if (name == "authorization") {
    std::string authorization;
    absl::Status status = TakeString(value, name, authorization);
    message.api_key = BearerToken(authorization);
    return status;
  }
  if (name == "pronunciation_dictionary_locators") return CheckDictionaries(value);
  AddIgnored(name, message.ignored);
  known = name == "generation_config" || name == "try_trigger_generation";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<StreamMessage> ParseStreamMessage(std::string_view text) {
  MILLRACE_ASSIGN_OR_RETURN(const json parsed, ParseObject("the message", text));
  StreamMessage message;
  bool any = false;
  for (const auto& [name, value] : parsed.items()) {
    bool known = true;
    if (!value.is_null()) {  // null is treated as absent
      MILLRACE_RETURN_IF_ERROR(TakeMessageMember(name, value, message, known));
    }
    any = any || known;
  }
  if (any) return message;
  return InvalidArgument(
      "the message has none of text, flush, close_context, close_socket, voice_settings and "
      "xi_api_key");
}

}  // namespace millrace::server
