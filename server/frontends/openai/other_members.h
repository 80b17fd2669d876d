#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "nlohmann/json_fwd.hpp"
#include "server/frontends/openai/speech_json.h"

namespace millrace::server {

// Reads a member that OpenAI does not have, but other servers with its API do (Kokoro-FastAPI,
// vLLM-Omni), as our member of the same meaning. Returns false for a member that has no effect
// here, and InvalidArgument, which names the member, its value and what is allowed, for a wrong
// value.
absl::StatusOr<bool> TakeOtherMember(std::string_view name, const nlohmann::json& value,
                                     SpeechRoute route, HttpSpeechRequest& request);

}  // namespace millrace::server
