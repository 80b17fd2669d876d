#include "server/frontends/openai/speech_json.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "models/audio/audio_format.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "nlohmann/json.hpp"
#include "server/http/json_body.h"
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
  MILLRACE_RETURN_IF_ERROR(TakeString(value, name, code));
  if (code.size() != 1) {
    request.language_code = std::move(code);
    return absl::OkStatus();
  }
  request.language_code = KokoroLanguage(code[0]);
  if (!request.language_code.empty()) return absl::OkStatus();
  return InvalidArgument(
      name, ": ", Shown(code),
      " is not allowed; it is one of a, b, e, f, h, i, j, p and z, or a tag such as en-US");
}

absl::Status TakeVolume(const json& value, std::string_view name, float& out) {
  const std::string allowed = StrCat("0..", kMaxVolume);
  float volume = 0;
  MILLRACE_RETURN_IF_ERROR(TakeFloat(value, name, allowed, volume));
  if (volume < 0 || volume > kMaxVolume) {
    return InvalidArgument(name, ": ", value.dump(), " is not allowed; it is a number of ",
                           allowed);
  }
  out = volume;
  return absl::OkStatus();
}

// The sample rate that OpenAI documents for pcm, which has no header to state one.
constexpr uint32_t kPcmRate = 24'000;

// The model checks the range.
absl::Status TakeSeconds(const json& value, std::string_view name, std::optional<float>& out) {
  return TakeFloat(value, name, "0..10", out.emplace());
}

// Reads a name, or OpenAI's object with the id of a custom voice.
absl::Status TakeVoice(const json& value, std::string_view name, HttpSpeechRequest& request) {
  if (value.is_string()) return TakeString(value, name, request.speech.voice);
  if (!value.is_object()) return WrongType(name, "a string or an object with an id", value);
  const auto id = value.find("id");
  if (id == value.end() || !id->is_string()) {
    return InvalidArgument(name, ": its id ",
                           id == value.end() ? std::string("is missing")
                                             : StrCat("must be a string, not ", ShownKind(*id)),
                           "; a voice is a string, or an object such as {\"id\": \"joe\"}");
  }
  request.speech.voice = id->get<std::string>();
  for (const auto& [member, unused] : value.items()) {
    if (member != "id") request.ignored.push_back(StrCat(name, ".", member));
  }
  return absl::OkStatus();
}

absl::Status TakeTextFormat(const json& value, std::string_view name, SpeechRequest& speech) {
  std::string format;
  MILLRACE_RETURN_IF_ERROR(TakeString(value, name, format));
  MILLRACE_ASSIGN_OR_RETURN(speech.text_format, ParseSpeechTextFormat(name, format));
  return absl::OkStatus();
}

absl::Status TakeTimestamps(const json& value, std::string_view name, SpeechRequest& speech) {
  constexpr std::string_view kAllowed = R"(an array of "word" and "phoneme")";
  if (!value.is_array()) return WrongType(name, kAllowed, value);
  for (const json& entry : value) {
    if (entry == "word") {
      speech.word_times = true;
    } else if (entry == "phoneme") {
      speech.phoneme_times = true;
    } else {
      return InvalidArgument(name, ": has ",
                             Shown(entry.is_string() ? entry.get<std::string>() : entry.dump()),
                             "; it is ", kAllowed);
    }
  }
  return absl::OkStatus();
}

absl::Status TakeMember(const std::string& name, const json& value, SpeechRoute route,
                        HttpSpeechRequest& request) {
  SpeechRequest& speech = request.speech;
  // Captions have their own form and times.
  if (route == SpeechRoute::kCaptioned && (name == "stream_format" || name == "timestamps")) {
    request.ignored.push_back(name);
    return absl::OkStatus();
  }
  if (name == "model") return TakeString(value, name, speech.model);
  if (name == "input") return TakeString(value, name, speech.text);
  if (name == "text_format") return TakeTextFormat(value, name, speech);
  if (name == "language") return TakeString(value, name, speech.language);
  if (name == "phonemes") return TakeString(value, name, speech.phonemes);
  if (name == "voice") return TakeVoice(value, name, request);
  // The model checks the range.
  if (name == "speed") return TakeFloat(value, name, "0.25..4", speech.speed.emplace());
  if (name == "sentence_pause_seconds")
    return TakeSeconds(value, name, speech.sentence_pause_seconds);
  if (name == "paragraph_pause_seconds")
    return TakeSeconds(value, name, speech.paragraph_pause_seconds);
  if (name == "response_format") {
    std::string format;
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, format));
    const auto known = models::AudioFormatNamed(format);
    if (!known) {
      // See docs/compatibility.md for the reason.
      const std::string_view instead = absl::EqualsIgnoreCase(View(format), "aac")
                                           ? ", and mp3 is played by all that plays aac"
                                           : "";
      return InvalidArgument(name, ": ", Shown(format),
                             " is not available; mp3, opus, flac, wav and pcm are", instead);
    }
    speech.format = *known;
    return absl::OkStatus();
  }
  if (name == "stream_format") {
    std::string format;
    MILLRACE_RETURN_IF_ERROR(TakeString(value, name, format));
    request.framing = format == "sse" ? SpeechFraming::kEvents : SpeechFraming::kAudio;
    if (format == "sse" || format == "audio") return absl::OkStatus();
    return InvalidArgument(name, ": ", Shown(format), " is not allowed; it is audio or sse");
  }
  if (name == "instructions") {
    // OpenAI's tts-1 does not follow them either.
    std::string ignored;
    return TakeString(value, name, ignored);
  }
  if (name == "timestamps") return TakeTimestamps(value, name, speech);
  if (name == "sample_rate") {
    // The format, which may come behind it, has a list of its own.
    uint64_t rate = 0;
    absl::Status status =
        TakeInteger(value, name, std::numeric_limits<uint32_t>::max(), rate,
                    StrCat(models::kMinSampleRate, "..", models::kMaxSampleRate, " hertz"));
    speech.sample_rate = static_cast<uint32_t>(rate);
    return status;
  }
  if (name == "normalize_loudness") return TakeBool(value, name, speech.normalize_loudness);
  if (name == "seed")
    return TakeInteger(value, name, std::numeric_limits<uint64_t>::max(), speech.seed);
  // Members that other servers with this API have (Kokoro-FastAPI, vLLM-Omni).
  if (name == "lang_code") return TakeLanguageCode(value, name, request);
  if (name == "volume_multiplier") return TakeVolume(value, name, speech.volume);
  if (name == "stream") return TakeBool(value, name, request.stream);
  if (name == "return_timestamps" && route == SpeechRoute::kCaptioned)
    return TakeBool(value, name, request.return_timestamps);
  if (name == "return_timing") return TakeBool(value, name, request.return_timing);
  request.ignored.push_back(name);
  return absl::OkStatus();
}

// Gives the members of other servers their effect, once all members are known.
void ApplyOtherMembers(SpeechRoute route, HttpSpeechRequest& request) {
  SpeechRequest& speech = request.speech;
  if (speech.language.empty() && !request.language_code.empty()) {
    speech.language = request.language_code;
  } else {
    request.language_code.clear();
  }
  if (route == SpeechRoute::kCaptioned) {
    request.framing = request.stream ? SpeechFraming::kCaptions : SpeechFraming::kWholeCaption;
    speech.word_times = request.return_timestamps;
  } else if (!request.stream && request.framing == SpeechFraming::kAudio &&
             models::CountCodePoints(speech.text) <= kMaxWholeCharacters) {
    request.framing = SpeechFraming::kFile;
  }
  if (!request.return_timing) return;
  if (request.framing == SpeechFraming::kEvents) {
    speech.word_times = true;
  } else {
    request.ignored.emplace_back("return_timing");
  }
}

}  // namespace

absl::StatusOr<HttpSpeechRequest> ParseSpeechJson(std::string_view body, SpeechRoute route) {
  MILLRACE_ASSIGN_OR_RETURN(const json parsed, ParseJsonObject(body));
  const json& members = parsed;
  HttpSpeechRequest request;
  request.speech.format = models::AudioFormat::kMp3;  // OpenAI's default
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;  // treated as absent
    MILLRACE_RETURN_IF_ERROR(TakeMember(name, value, route, request));
  }
  ApplyOtherMembers(route, request);
  const auto input = members.find("input");
  if ((input == members.end() || input->is_null()) && request.speech.phonemes.empty())
    return InvalidArgument("input: is missing");
  if ((request.speech.word_times || request.speech.phoneme_times) &&
      (request.framing == SpeechFraming::kAudio || request.framing == SpeechFraming::kFile)) {
    return InvalidArgument("timestamps: come as events, which needs \"stream_format\": \"sse\"");
  }
  if (request.speech.format == models::AudioFormat::kPcmS16 && request.speech.sample_rate == 0)
    request.speech.sample_rate = kPcmRate;
  return request;
}

}  // namespace millrace::server
