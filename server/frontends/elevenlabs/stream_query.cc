#include "server/frontends/elevenlabs/stream_query.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "httplib.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/elevenlabs/output_format.h"

namespace millrace::server {
namespace {

constexpr std::string_view kTheirModels = "eleven_";
constexpr uint32_t kMaxInactivitySeconds = 180;

absl::Status Wrong(const char* name, const std::string& value, std::string_view allowed) {
  return InvalidArgument(std::string_view(name), ": ", Shown(value), " is not allowed; it is ",
                         allowed);
}

// Returns true for a string in the form of ElevenLabs' ids, such as JBFqnCBsd6RMkjVDRZzb, which
// their documents and clients name.
bool IsTheirVoiceId(std::string_view id) {
  return id.size() == 20 && std::ranges::all_of(id, absl::ascii_isalnum) &&
         std::ranges::any_of(id, absl::ascii_isdigit) &&
         std::ranges::any_of(id, absl::ascii_isupper);
}

template <typename Number>
absl::Status TakeNumber(const httplib::Request& request, const char* name, Number least,
                        Number most, Number& out) {
  const std::string value = request.get_param_value(name);
  if (value.empty()) return absl::OkStatus();
  if (absl::SimpleAtoi(value, &out) && out >= least && out <= most) return absl::OkStatus();
  return Wrong(name, value, StrCat(least, "..", most));
}

}  // namespace

absl::Status TakeFlag(const httplib::Request& request, const char* name, bool& out) {
  const std::string value = request.get_param_value(name);
  if (value.empty()) return absl::OkStatus();
  out = absl::EqualsIgnoreCase(value, "true") || value == "1";
  if (out || absl::EqualsIgnoreCase(value, "false") || value == "0") return absl::OkStatus();
  return Wrong(name, value, "true or false");
}

absl::StatusOr<SpeechTextFormat> ChooseTextFormat(bool ssml, std::string_view name) {
  if (name.empty()) return ssml ? SpeechTextFormat::kSsmlFragment : SpeechTextFormat::kPlain;
  MILLRACE_ASSIGN_OR_RETURN(const auto known, ParseSpeechTextFormat(kTextFormatParameter, name));
  if (known == SpeechTextFormat::kSsml) return SpeechTextFormat::kSsmlFragment;
  if (!ssml) return known;
  return InvalidArgument(std::string_view(kTextFormatParameter), ": ", Shown(name),
                         " is not allowed with ", std::string_view(kSsmlFlag),
                         "=true, which is ssml");
}

absl::Status ResolveModelAndVoice(const SpeechNames& names, const std::string& model_id,
                                  const std::string& voice_id, SpeechRequest& speech) {
  if (!models::IsValidUtf8(voice_id) || !models::IsValidUtf8(model_id))
    return InvalidArgument("voice_id, model_id: must be valid UTF-8");
  speech.model = model_id.starts_with(kTheirModels) ? "" : model_id;
  const bool stands_for_any =
      names.has_aliases() && IsTheirVoiceId(voice_id) && !names.KnowsVoice(voice_id);
  speech.voice = stands_for_any ? "" : voice_id;
  return names.Resolve(speech);
}

absl::StatusOr<StreamOptions> ParseStreamQuery(const httplib::Request& request,
                                               const std::string& voice_id, bool multi,
                                               const SpeechNames& names) {
  StreamOptions options;
  options.multi = multi;
  options.speech.word_times = true;
  options.speech.language = request.get_param_value("language_code");
  if (!models::IsValidUtf8(options.speech.language))
    return InvalidArgument("language_code: must be valid UTF-8");
  bool ssml = false;
  bool times = true;
  uint32_t inactivity_seconds = 20;
  for (const absl::Status& status :
       {TakeFlag(request, "auto_mode", options.auto_mode), TakeFlag(request, kSsmlFlag, ssml),
        TakeFlag(request, "sync_alignment", times),
        TakeNumber<uint32_t>(request, "inactivity_timeout", 1, kMaxInactivitySeconds,
                             inactivity_seconds),
        TakeNumber<uint64_t>(request, "seed", 0, UINT64_MAX, options.speech.seed)}) {
    if (!status.ok()) return status;
  }
  MILLRACE_ASSIGN_OR_RETURN(options.speech.text_format,
                            ChooseTextFormat(ssml, request.get_param_value(kTextFormatParameter)));
  options.inactivity_timeout = std::chrono::seconds(inactivity_seconds);
  const std::string format_name = request.get_param_value("output_format");
  MILLRACE_ASSIGN_OR_RETURN(
      const OutputFormat format,
      ParseOutputFormat(format_name.empty() ? kDefaultOutputFormat : format_name));
  options.speech.format = format.format;
  options.speech.sample_rate = format.sample_rate;
  const std::string model_id = request.get_param_value("model_id");
  MILLRACE_RETURN_IF_ERROR(ResolveModelAndVoice(names, model_id, voice_id, options.speech));
  return options;
}

}  // namespace millrace::server
