#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/http/speech_framer.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A request for speech over HTTP. Workers add encoded audio, and the connection's own thread takes
// it out and writes it. When too much waits, the job is parked until the client has caught up, so
// that a slow reader holds neither memory nor a worker.
//
// It is shared by the connection and, until Finish, by the job; the last of them counts the request
// and returns its ticket.
class SpeechReply final : public Reply, public SelfShared<SpeechReply> {
 public:
  // request_id, caller: written to the log. The request counts for the caller's key.
  SpeechReply(Services& services, std::string request_id, Caller caller = {})
      : run_(services, Method::kHttpSpeech, *this, caller.arrival),
        requester_{std::move(request_id), std::move(caller)} {
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
  Piece Take(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // Records that the client received the end.
  void Delivered() MILLRACE_EXCLUDES(mu_);
  // Stops the work because the client is gone or done. Idempotent; nothing may be taken afterwards.
  void Abandon() MILLRACE_EXCLUDES(mu_);

  void Emit(models::Output output) override MILLRACE_EXCLUDES(mu_);
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);
  bool Congested() const override MILLRACE_EXCLUDES(mu_);
  void Park(std::unique_ptr<Job> job) override MILLRACE_EXCLUDES(mu_);

 private:
  void Append(std::string_view bytes) MILLRACE_EXCLUDES(mu_);
  bool CaughtUp() const MILLRACE_REQUIRES(mu_);

  RequestRun run_;
  const Requester requester_;
  // The worker that has the job uses these members.
  SpeechAudio audio_;
  std::unique_ptr<SpeechFramer> framer_;  // set by Start, before other threads use this
  bool too_long_ = false;

  mutable Mutex mu_;
  CondVar changed_;
  std::string pending_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool abandoned_ MILLRACE_GUARDED_BY(mu_) = false;
  bool delivered_ MILLRACE_GUARDED_BY(mu_) = false;
  std::unique_ptr<Job> parked_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
