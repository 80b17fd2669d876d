#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/clock.h"
#include "server/requests/services.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_speech.h"

namespace millrace::server {

// One synthesis over Wyoming, whose text arrives as a whole or while it is being written, and whose
// audio becomes events. Used by the connection's thread; nothing blocks. When it is destroyed, its
// work goes on until it is told to Fail.
class SynthesisReply {
 public:
  enum class Kind : uint8_t { kWhole, kStreamed };

  // address: of the client, for the log. changed: see TextSpeech.
  SynthesisReply(Services& services, Kind kind, std::string address, std::function<void()> changed);

  // Begins, or ends with the error of the options, which have no text. Must be called once, before
  // anything else. ignored: members of the request that have no effect.
  void Start(absl::StatusOr<SpeechRequest> options, std::vector<std::string> ignored) {
    ignored_ = std::move(ignored);
    speech_->Start(std::move(options));
  }
  // Speaks a whole text.
  void Speak(std::string_view text) { speech_->Speak(text); }
  // Adds text, which may be empty.
  void Push(std::string_view text) { speech_->Push(text, /*flush=*/false); }
  // Ends the text.
  void EndText() { speech_->EndText(); }
  bool WantsText() const { return speech_->WantsText(); }
  // Returns the time since which it waits for text; TimePoint::max() while it does not.
  TimePoint waiting_since() const { return speech_->waiting_since(); }
  TimePoint deadline() const { return speech_->deadline(); }
  // Stops the work and ends with the error. Idempotent.
  void Fail(const absl::Status& status) { speech_->Fail(status); }

  struct Piece {
    std::string events;  // whole ones, of some 64 KiB at most, perhaps none
    // Set at the end: nothing follows these events. An error was not sent yet.
    std::optional<absl::Status> end;
  };
  // Returns the next events, without waiting for them.
  Piece Take();
  // Records that the client received the end.
  void Delivered() { speech_->Delivered(); }

 private:
  // Return the events of audio, with the one that it starts with.
  std::string StartEvent(int rate);
  std::string AudioEvents(std::string_view samples, int rate);

  const Kind kind_;
  const std::shared_ptr<TextSpeech> speech_;
  bool started_ = false;
  std::vector<std::string> ignored_;
  size_t sent_bytes_ = 0;  // bytes of samples
};

}  // namespace millrace::server
