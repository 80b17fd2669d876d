#include "server/frontends/vllm_omni/session_config.h"

#include "models/core/errors.h"
#include "models/core/shown.h"
#include "nlohmann/json.hpp"
#include "server/json/ignored_members.h"
#include "server/json/json_member.h"

namespace millrace::server {
namespace {

using nlohmann::json;

// A rate that all packed formats have.
constexpr uint32_t kPackedRate = 24'000;

absl::Status TakeMember(const std::string& name, const json& value, SessionConfig& config) {
  SpeechRequest& speech = config.speech;
  if (name == "model") return TakeString(value, name, speech.model);
  if (name == "voice") return TakeString(value, name, speech.voice);
  if (name == "text_format") {
    std::string format;
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, format));
    const auto known = ParseSpeechTextFormat(name, format);
    if (known.ok()) speech.text_format = *known;
    return known.status();
  }
  if (name == "response_format") return TakeString(value, name, config.format_name);
  if (name == "stream_audio") return TakeBool(value, name, config.stream_audio);
  // The model checks the range.
  if (name == "speed") return TakeFloat(value, name, "0.25..4", speech.speed.emplace());
  if (name == "language") {
    absl::Status status = TakeString(value, name, speech.language);
    if (speech.language == "Auto") speech.language.clear();
    return status;
  }
  if (name == "split_granularity") {
    std::string granularity;
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, granularity));
    if (granularity == "sentence") return absl::OkStatus();
    return InvalidArgument(std::string_view(name), ": ", Shown(granularity),
                           " is not available; sentence is");
  }
  if (name == "ref_audio" || name == "ref_text") {
    return InvalidArgument(std::string_view(name), ": voices cannot be cloned; name one as voice");
  }
  if (name != "type") AddIgnored(name, config.ignored);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SessionConfig> ParseSessionConfig(const json& message, const SpeechNames& names) {
  SessionConfig config;
  for (const auto& [name, value] : message.items()) {
    if (value.is_null()) continue;  // treated as absent
    MILLRACE_RETURN_IF_ERROR(TakeMember(name, value, config));
  }
  const auto format = models::AudioFormatNamed(config.format_name);
  if (!format) {
    return InvalidArgument("response_format: ", Shown(config.format_name),
                           " is not available; wav, pcm, mp3, opus and flac are");
  }
  config.format = *format;
  if (config.stream_audio && config.format != models::AudioFormat::kPcmS16) {
    return InvalidArgument("stream_audio: needs the response_format pcm, not ", config.format_name);
  }
  SpeechRequest& speech = config.speech;
  speech.format = models::AudioFormat::kPcmS16;
  if (!models::SampleRates(config.format).empty()) speech.sample_rate = kPackedRate;
  MILLRACE_RETURN_IF_ERROR(names.Resolve(speech));
  return config;
}

}  // namespace millrace::server
