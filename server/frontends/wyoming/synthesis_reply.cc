#include "server/frontends/wyoming/synthesis_reply.h"

#include "server/frontends/wyoming/event.h"
#include "server/json/ignored_members.h"

namespace millrace::server {
namespace {

constexpr size_t kSampleBytes = 2;
// The most samples of an event, and the size of the events that are taken at once, beyond which no
// more are added.
constexpr size_t kMaxChunkBytes = size_t{16} << 10;
constexpr size_t kEnoughBytes = size_t{32} << 10;

}  // namespace

SynthesisReply::SynthesisReply(Services& services, Kind kind, std::string address,
                               std::function<void()> changed)
    : kind_(kind),
      speech_(std::make_shared<TextSpeech>(
          services, kind == Kind::kStreamed ? Method::kWyomingTextStream : Method::kWyomingSpeech,
          Requester{.request_id = {}, .caller = {.address = std::move(address), .key = {}}},
          std::move(changed))) {}

SynthesisReply::Piece SynthesisReply::Take() {
  Piece piece;
  while (piece.events.size() < kEnoughBytes) {
    const std::optional<SpokenPiece> spoken = speech_->Take();
    if (!spoken) break;
    piece.events += AudioEvents(spoken->audio, spoken->encoded_rate);
  }
  piece.end = speech_->end();
  if (!piece.end || !piece.end->ok()) return piece;
  // A text with nothing to speak, as an assistant may write it, gives audio without samples: its
  // listener waits for the end of it.
  piece.events += StartEvent(speech_->encoded_rate());
  piece.events += SerializeEvent("audio-stop", {{"timestamp", nullptr}});
  if (kind_ == Kind::kStreamed) piece.events += SerializeEvent("synthesize-stopped", {});
  return piece;
}

std::string SynthesisReply::StartEvent(int rate) {
  if (std::exchange(started_, true)) return "";
  nlohmann::ordered_json data = {
      {"rate", rate}, {"width", kSampleBytes}, {"channels", 1}, {"timestamp", 0}};
  if (!ignored_.empty()) data["warning"] = IgnoredMembers(ignored_);
  return SerializeEvent("audio-start", data);
}

std::string SynthesisReply::AudioEvents(std::string_view samples, int rate) {
  std::string events;
  while (!samples.empty()) {
    events += StartEvent(rate);
    const std::string_view chunk = samples.substr(0, kMaxChunkBytes);
    events += SerializeEvent(
        "audio-chunk",
        {{"rate", rate},
         {"width", kSampleBytes},
         {"channels", 1},
         {"timestamp", sent_bytes_ / kSampleBytes * 1000 / static_cast<size_t>(rate)}},
        chunk);
    sent_bytes_ += chunk.size();
    samples.remove_prefix(chunk.size());
  }
  return events;
}

}  // namespace millrace::server
