#include "server/frontends/elevenlabs/stream_query.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/ascii.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/text/unicode.h"
#include "server/frontends/elevenlabs/output_format.h"

namespace millrace::server {
namespace {

constexpr std::string_view kTheirModels = "eleven_";
constexpr uint64_t kMaxInactivitySeconds = 180;

// Returns true for a string in the form of ElevenLabs' ids, such as JBFqnCBsd6RMkjVDRZzb, which
// their documents and clients name.
bool IsTheirVoiceId(std::string_view id) {
  return id.size() == 20 && std::ranges::all_of(id, absl::ascii_isalnum) &&
         std::ranges::any_of(id, absl::ascii_isdigit) &&
         std::ranges::any_of(id, absl::ascii_isupper);
}

}  // namespace

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

absl::StatusOr<StreamOptions> ParseStreamQuery(Query& query, const std::string& voice_id,
                                               bool multi, const SpeechNames& names) {
  StreamOptions options;
  options.multi = multi;
  options.speech.word_times = true;
  bool ssml = false;
  bool times = true;
  uint64_t inactivity_seconds = 20;
  std::string text_format, model_id;
  std::string format_name(kDefaultOutputFormat);
  for (const absl::Status& status :
       {query.TakeText("language_code", options.speech.language),
        query.TakeFlag("auto_mode", options.auto_mode), query.TakeFlag(kSsmlFlag, ssml),
        query.TakeFlag("sync_alignment", times),
        query.TakeNumber("inactivity_timeout", 1, kMaxInactivitySeconds, inactivity_seconds),
        query.TakeNumber("seed", 0, UINT64_MAX, options.speech.seed),
        query.TakeText(kTextFormatParameter, text_format),
        query.TakeText("output_format", format_name), query.TakeText("model_id", model_id)}) {
    if (!status.ok()) return status;
  }
  MILLRACE_ASSIGN_OR_RETURN(options.speech.text_format, ChooseTextFormat(ssml, text_format));
  options.inactivity_timeout = std::chrono::seconds(inactivity_seconds);
  MILLRACE_ASSIGN_OR_RETURN(const OutputFormat format, ParseOutputFormat(format_name));
  options.speech.format = format.format;
  options.speech.sample_rate = format.sample_rate;
  MILLRACE_RETURN_IF_ERROR(ResolveModelAndVoice(names, model_id, voice_id, options.speech));
  return options;
}

}  // namespace millrace::server
