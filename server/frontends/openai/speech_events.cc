#include "server/frontends/openai/speech_events.h"

#include <cmath>

#include "absl/strings/escaping.h"
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

}  // namespace

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

std::string AudioEvent(std::string_view audio) {
  return StrCat("data: {\"type\":\"speech.audio.delta\",\"audio\":\"",
                absl::Base64Escape(View(audio)), "\"}\n\n");
}

std::string DoneEvent(size_t characters, double seconds) {
  constexpr double kTokensPerSecond = 20;
  const auto audio = static_cast<size_t>(std::ceil(seconds * kTokensPerSecond));
  return Event({{"type", "speech.audio.done"},
                {"usage",
                 {{"input_tokens", characters},
                  {"output_tokens", audio},
                  {"total_tokens", characters + audio}}}});
}

}  // namespace millrace::server
