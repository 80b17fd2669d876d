#include "server/requests/whole_speech.h"

#include "models/core/errors.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

bool WholeSpeech::Push(models::SynthesizeOutput& piece, const RequestRun& run) {
  if (too_long_) return false;
  audio_.Push(piece, run);
  if (audio_.plain_bytes() > kMaxWholeAudioBytes) {
    too_long_ = true;
    run.reply().Cancel();
  }
  return true;
}

absl::StatusOr<std::string> WholeSpeech::Take(const absl::Status& status, std::string_view fields,
                                              std::string_view streaming_method) {
  if (too_long_) {
    return InvalidArgument(fields, ": the speech is longer than one reply may hold, ",
                           kMaxWholeAudioBytes >> 20, " MiB; use ", streaming_method);
  }
  if (!status.ok()) return status;
  return audio_.Flush();
}

}  // namespace millrace::server
