#include "server/frontends/elevenlabs/timed_framer.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

Json AlignmentInSeconds(const CharacterTimes& times) {
  if (times.characters.empty()) return nullptr;
  Json begins = Json::array();
  Json ends = Json::array();
  for (const CharacterTimes::Span& span : times.times) {
    begins.push_back(span.begin);
    ends.push_back(span.end);
  }
  return {{"characters", times.characters},
          {"character_start_times_seconds", std::move(begins)},
          {"character_end_times_seconds", std::move(ends)}};
}

}  // namespace

std::string TimedFramer::Push(const models::SynthesizeOutput& piece, std::string_view audio) {
  if (!piece.words.empty()) {
    AddCharacterTimes(piece.text, piece.words, samples_, 0, piece.sample_rate, times_);
  }
  samples_ += static_cast<int64_t>(piece.samples.size());
  if (whole_) {
    audio_ += audio;
    return "";
  }
  return audio.empty() ? "" : TakeObject(audio) + "\n";
}

std::string TimedFramer::Close(std::string_view audio, double /*seconds*/) {
  if (whole_) return TakeObject(std::exchange(audio_, {}).append(audio));
  return audio.empty() && times_.characters.empty() ? "" : TakeObject(audio) + "\n";
}

std::string TimedFramer::TakeObject(std::string_view audio) {
  const Json alignment = AlignmentInSeconds(std::exchange(times_, {}));
  const Json object = {{"audio_base64", absl::Base64Escape(View(audio))},
                       {"alignment", alignment},
                       {"normalized_alignment", alignment}};
  return JsonText(object);
}

}  // namespace millrace::server
