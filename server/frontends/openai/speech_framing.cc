#include "server/frontends/openai/speech_framing.h"

#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/payload.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

Json ToJson(const models::SpokenSpan& time, int sample_rate) {
  return {{"text", time.text},
          {"start", static_cast<double>(time.begin) / sample_rate},
          {"end", static_cast<double>(time.end) / sample_rate}};
}

std::string Event(const Json& event) { return StrCat("data: ", JsonText(event), "\n\n"); }

// Returns the server-sent event speech.timestamps: the times of a sentence, which count from the
// beginning of the whole audio.
std::string TimestampsEvent(const models::SynthesizeOutput& sentence) {
  Json event = {{"type", "speech.timestamps"}, {"sentence_index", sentence.sentence_index}};
  for (const models::SpokenSpan& word : sentence.words) {
    Json& json = event["words"].emplace_back(ToJson(word, sentence.sample_rate));
    json["character_offset"] = word.character;
  }
  for (const models::SpokenSpan& phoneme : sentence.phonemes)
    event["phonemes"].push_back(ToJson(phoneme, sentence.sample_rate));
  return Event(event);
}

// Returns OpenAI's event speech.audio.delta: a piece of the audio.
std::string AudioEvent(std::string_view audio) {
  return StrCat("data: {\"type\":\"speech.audio.delta\",\"audio\":\"",
                absl::Base64Escape(View(audio)), "\"}\n\n");
}

// Returns OpenAI's event speech.audio.done, the last one, with the usage: the characters of the
// text, and the audio in units of 50 ms.
std::string DoneEvent(size_t characters, double seconds) {
  constexpr double kTokensPerSecond = 20;
  const auto audio = static_cast<size_t>(std::ceil(seconds * kTokensPerSecond));
  return Event({{"type", "speech.audio.done"},
                {"usage",
                 {{"input_tokens", characters},
                  {"output_tokens", audio},
                  {"total_tokens", characters + audio}}}});
}

}  // namespace

const char* ContentTypeOf(SpeechFraming framing, models::AudioFormat format) {
  if (framing == SpeechFraming::kEvents) return "text/event-stream";
  if (framing == SpeechFraming::kCaptions || framing == SpeechFraming::kWholeCaption)
    return "application/json";
  return ContentTypeOf(format);
}

std::string OpenAiFramer::Push(const models::SynthesizeOutput& piece, std::string_view audio) {
  if (framing_ == SpeechFraming::kEvents) {
    std::string event;
    if (!piece.words.empty() || !piece.phonemes.empty()) event = TimestampsEvent(piece);
    return event + Framed(audio);
  }
  const auto seconds = [&piece](int64_t samples) {
    return static_cast<double>(samples) / piece.sample_rate;
  };
  for (const models::SpokenSpan& word : piece.words) {
    words_.push_back({{"word", word.text},
                      {"start_time", seconds(word.begin)},
                      {"end_time", seconds(word.end)}});
  }
  return Framed(audio);
}

std::string OpenAiFramer::Close(std::string_view audio, double seconds) {
  std::string rest = Framed(audio);
  if (framing_ == SpeechFraming::kEvents) return rest + DoneEvent(characters_, seconds);
  if (framing_ == SpeechFraming::kWholeCaption) return TakeCaption(std::exchange(audio_, {}));
  if (framing_ == SpeechFraming::kCaptions && !words_.empty()) rest += TakeCaption({}) + "\n";
  return rest;
}

std::string OpenAiFramer::Framed(std::string_view audio) {
  if (audio.empty()) return "";
  if (framing_ == SpeechFraming::kEvents) return AudioEvent(audio);
  if (framing_ == SpeechFraming::kCaptions) return TakeCaption(audio) + "\n";
  if (framing_ != SpeechFraming::kWholeCaption) return std::string(audio);
  audio_ += audio;
  return "";
}

std::string OpenAiFramer::TakeCaption(std::string_view audio) {
  const Json caption = {{"audio", absl::Base64Escape(View(audio))},
                        {"audio_format", ContentTypeOf(format_)},
                        {"timestamps", std::exchange(words_, Json::array())}};
  return JsonText(caption);
}

}  // namespace millrace::server
