#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/audio/audio_format.h"
#include "nlohmann/json_fwd.hpp"
#include "server/requests/speech_names.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// How the texts of a session are spoken.
struct SessionConfig {
  SpeechRequest speech;  // has no text, and plain samples as its format
  models::AudioFormat format = models::AudioFormat::kWav;  // a frame is one sentence
  std::string format_name = "wav";
  bool stream_audio = false;         // a sentence comes in several frames, of plain samples
  std::vector<std::string> ignored;  // members that have no effect
};

// Reads vLLM-Omni's session.config, where members that steer its models have no effect.
// InvalidArgument names the member, its value and what is allowed.
absl::StatusOr<SessionConfig> ParseSessionConfig(const nlohmann::json& message,
                                                 const SpeechNames& names);

}  // namespace millrace::server
