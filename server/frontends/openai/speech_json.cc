#include "server/frontends/openai/speech_json.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/http/json_body.h"
#include "server/requests/utf8.h"

namespace millrace::server {
namespace {

using nlohmann::json;

constexpr char kMembers[] =
    "model, input, voice, speed, response_format, stream_format, instructions, sample_rate, "
    "normalize_loudness, seed, language, phonemes, timestamps, sentence_pause_seconds, "
    "paragraph_pause_seconds";
constexpr size_t kMaxShown = 64;
// What OpenAI documents for pcm, which has no header to tell.
constexpr uint32_t kPcmRate = 24'000;

absl::Status WrongType(std::string_view name, std::string_view wanted, const json& value) {
  return absl::InvalidArgumentError(
      StrCat(name, ": must be ", wanted, ", not ", std::string_view(value.type_name())));
}

absl::Status TakeString(const json& value, std::string_view name, std::string& out) {
  if (!value.is_string()) return WrongType(name, "a string", value);
  out = value.get<std::string>();
  return absl::OkStatus();
}

absl::Status TakeInteger(const json& value, std::string_view name, uint64_t max, uint64_t& out) {
  if (!value.is_number()) return WrongType(name, "a number", value);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > max) {
    return absl::InvalidArgumentError(
        StrCat(name, ": ", value.dump(), " is not allowed; it is a whole number of 0..", max));
  }
  out = value.get<uint64_t>();
  return absl::OkStatus();
}

absl::Status TakeSeconds(const json& value, std::string_view name, std::optional<float>& out) {
  if (!value.is_number()) return WrongType(name, "a number of 0..10", value);
  // The range is checked with the model; what a float cannot hold is outside of it all the same.
  out = static_cast<float>(std::clamp(value.get<double>(), -1e30, 1e30));
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
      return absl::InvalidArgumentError(
          StrCat(name, ": has ", Shown(entry.is_string() ? entry.get<std::string>() : entry.dump()),
                 "; it is ", kAllowed));
    }
  }
  return absl::OkStatus();
}

absl::Status TakeMember(const std::string& name, const json& value, HttpSpeechRequest& request) {
  SpeechRequest& speech = request.speech;
  if (name == "model") return TakeString(value, name, speech.model);
  if (name == "input") return TakeString(value, name, speech.text);
  if (name == "language") return TakeString(value, name, speech.language);
  if (name == "phonemes") return TakeString(value, name, speech.phonemes);
  if (name == "voice") return TakeString(value, name, speech.voice);
  if (name == "speed") {
    if (!value.is_number()) return WrongType(name, "a number of 0.25..4", value);
    // The model checks the range; what a float cannot hold is outside of it all the same.
    speech.speed = static_cast<float>(std::clamp(value.get<double>(), -1e30, 1e30));
    return absl::OkStatus();
  }
  if (name == "sentence_pause_seconds")
    return TakeSeconds(value, name, speech.sentence_pause_seconds);
  if (name == "paragraph_pause_seconds")
    return TakeSeconds(value, name, speech.paragraph_pause_seconds);
  if (name == "response_format") {
    std::string format;
    if (absl::Status status = TakeString(value, name, format); !status.ok()) return status;
    const auto known = models::AudioFormatNamed(format);
    if (!known) {
      return absl::InvalidArgumentError(
          StrCat(name, ": ", Shown(format), " is not available; mp3, opus, flac, wav and pcm are"));
    }
    speech.format = *known;
    return absl::OkStatus();
  }
  if (name == "stream_format") {
    std::string format;
    if (absl::Status status = TakeString(value, name, format); !status.ok()) return status;
    request.sse = format == "sse";
    if (request.sse || format == "audio") return absl::OkStatus();
    return absl::InvalidArgumentError(
        StrCat(name, ": ", Shown(format), " is not allowed; it is audio or sse"));
  }
  if (name == "instructions") {
    // OpenAI's tts-1 does not follow them either.
    std::string ignored;
    return TakeString(value, name, ignored);
  }
  if (name == "timestamps") return TakeTimestamps(value, name, speech);
  if (name == "sample_rate") {
    uint64_t rate = 0;
    absl::Status status = TakeInteger(value, name, std::numeric_limits<uint32_t>::max(), rate);
    speech.sample_rate = static_cast<uint32_t>(rate);
    return status;
  }
  if (name == "normalize_loudness") {
    if (!value.is_boolean()) return WrongType(name, "true or false", value);
    speech.normalize_loudness = value.get<bool>();
    return absl::OkStatus();
  }
  if (name == "seed")
    return TakeInteger(value, name, std::numeric_limits<uint64_t>::max(), speech.seed);
  // Named first where it could be a member's name: errors are about the name that they begin with.
  const bool plain =
      name.size() <= kMaxShown && !name.empty() &&
      std::ranges::all_of(name, [](char c) { return c == '_' || (c >= 'a' && c <= 'z'); });
  return absl::InvalidArgumentError(StrCat(plain ? StrCat(name, ": ") : std::string(),
                                           "unknown member ", Shown(name),
                                           "; known are: ", std::string_view(kMembers)));
}

}  // namespace

std::string Shown(std::string_view text) {
  if (text.size() <= kMaxShown) return StrCat("'", text, "'");
  size_t end = kMaxShown;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // not inside a UTF-8 sequence
  return StrCat("'", text.substr(0, end), "...'");
}

absl::StatusOr<HttpSpeechRequest> ParseSpeechJson(std::string_view body) {
  if (!IsValidUtf8(body)) return absl::InvalidArgumentError("the body is not valid UTF-8");
  const absl::StatusOr<json> parsed = ParseJsonObject(body);
  if (!parsed.ok()) return parsed.status();
  const json& members = *parsed;
  HttpSpeechRequest request;
  request.speech.format = models::AudioFormat::kMp3;  // OpenAI's default
  for (const auto& [name, value] : members.items()) {
    if (value.is_null()) continue;  // as if it were not there
    if (absl::Status status = TakeMember(name, value, request); !status.ok()) return status;
  }
  for (const char* required : {"model", "input"}) {
    const auto found = members.find(required);
    if (found != members.end() && !found->is_null()) continue;
    // Phonemes stand in its place.
    if (required == std::string_view("input") && !request.speech.phonemes.empty()) continue;
    return absl::InvalidArgumentError(StrCat(std::string_view(required), ": is missing"));
  }
  if ((request.speech.word_times || request.speech.phoneme_times) && !request.sse) {
    return absl::InvalidArgumentError(
        "timestamps: come as events, which needs \"stream_format\": \"sse\"");
  }
  if (request.speech.model.empty()) return absl::InvalidArgumentError("model: is empty");
  if (request.speech.format == models::AudioFormat::kPcmS16 && request.speech.sample_rate == 0)
    request.speech.sample_rate = kPcmRate;
  return request;
}

}  // namespace millrace::server
