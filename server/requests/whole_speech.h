#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"

namespace millrace::server {

// The audio of a request whose reply is one message, which holds at most kMaxWholeAudioBytes.
// Speech that is longer is stopped. Used by one thread at a time, the request's worker.
class WholeSpeech {
 public:
  void Start(const models::AudioEncoderOptions& encoding) { audio_.Start(encoding); }

  // Takes a piece, and shifts its times to those of the whole audio. Returns false when the piece
  // was not taken, because the speech is already too long.
  bool Push(models::SynthesizeOutput& piece, const RequestRun& run);
  // Returns the audio of a request that ended with this status. InvalidArgument for speech that is
  // too long names the fields of its text, and the method that can speak it.
  absl::StatusOr<std::string> Take(const absl::Status& status, std::string_view fields,
                                   std::string_view streaming_method);

  const models::AudioEncoderOptions& encoding() const { return audio_.encoding(); }
  double seconds() const { return audio_.seconds(); }

 private:
  SpeechAudio audio_;
  bool too_long_ = false;
};

}  // namespace millrace::server
