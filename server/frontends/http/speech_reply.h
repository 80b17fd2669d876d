#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/frontends/http/speech_framer.h"
#include "server/requests/reply_buffer.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A request for speech over HTTP. Workers add encoded audio, and the connection's own thread takes
// it out and writes it.
//
// It is shared by the connection and, until Finish, by the job; the last of them counts the request
// and returns its ticket.
class SpeechReply final : public Reply, public SelfShared<SpeechReply> {
 public:
  // request_id, caller: written to the log. The request counts for the caller's key.
  SpeechReply(Services& services, std::string request_id, Caller caller = {})
      : run_(services, Method::kHttpSpeech, *this, caller.arrival),
        requester_{std::move(request_id), std::move(caller)},
        buffer_(services.scheduler, services.max_buffered_bytes) {
    run_.SetCaller(requester_.caller.key, requester_.caller.priority);
  }
  ~SpeechReply() override;

  // Queues the work, or ends with its error. framer: null for the audio itself. Must be called
  // once, before anything else. Never blocks.
  void Start(absl::StatusOr<SpeechWork> work, std::unique_ptr<SpeechFramer> framer = nullptr);

  const RequestRun& run() const { return run_; }

  struct Piece {
    std::string bytes;  // at most 64 KiB, perhaps none
    // Set at the end: nothing follows these bytes.
    std::optional<absl::Status> end;
  };
  // Returns the next piece, waiting for it at most that long.
  Piece Take(std::chrono::milliseconds patience);
  // Records that the client received the end.
  void Delivered() { buffer_.SetDelivered(); }
  // Stops the work because the client is gone or done. Idempotent; nothing may be taken afterwards.
  void Abandon();

  void Emit(models::Output output) override;
  void Finish(const absl::Status& status) override;
  bool Congested() const override { return buffer_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { buffer_.Park(std::move(job)); }

 private:
  void Append(std::string_view bytes);

  RequestRun run_;
  const Requester requester_;
  // The worker that has the job uses these members.
  SpeechAudio audio_;
  std::unique_ptr<SpeechFramer> framer_;  // set by Start, before other threads use this
  bool too_long_ = false;

  ReplyBuffer<std::string> buffer_;
};

}  // namespace millrace::server
