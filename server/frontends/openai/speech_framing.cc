#include "server/frontends/openai/speech_framing.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "models/core/strings.h"
#include "server/frontends/openai/speech_events.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

const char* ContentTypeOf(SpeechFraming framing, models::AudioFormat format) {
  switch (framing) {
    case SpeechFraming::kEvents:
      return "text/event-stream";
    case SpeechFraming::kCaptions:
    case SpeechFraming::kWholeCaption:
      return "application/json";
    case SpeechFraming::kAudio:
    case SpeechFraming::kFile:
      break;
  }
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
  switch (framing_) {
    case SpeechFraming::kEvents:
      return AudioEvent(audio);
    case SpeechFraming::kCaptions:
      return TakeCaption(audio) + "\n";
    case SpeechFraming::kWholeCaption:
      audio_ += audio;
      return "";
    case SpeechFraming::kAudio:
    case SpeechFraming::kFile:
      break;
  }
  return std::string(audio);
}

std::string OpenAiFramer::TakeCaption(std::string_view audio) {
  const Json caption = {{"audio", absl::Base64Escape(View(audio))},
                        {"audio_format", ContentTypeOf(format_)},
                        {"timestamps", std::exchange(words_, Json::array())}};
  return JsonText(caption);
}

}  // namespace millrace::server
