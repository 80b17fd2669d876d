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
#include "server/frontends/openai/speech_framing.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A request for speech over HTTP. Workers put encoded audio in, the connection's own thread takes
// it out and writes it. When too much waits, the job is parked until the client has caught up, so
// that neither memory nor a worker is held by a slow reader.
//
// Shared by the connection and, until Finish, by the job; the last of them counts the request and
// gives its ticket back.
class SpeechReply final : public Reply, public SelfShared<SpeechReply> {
 public:
  // request_id, caller: for the log.
  SpeechReply(Services& services, std::string request_id, Caller caller = {})
      : run_(services, Method::kHttpSpeech, *this),
        requester_{std::move(request_id), std::move(caller)} {}
  ~SpeechReply() override;

  // Queues the work, or ends with what is wrong with it. Call it once, first. Never blocks.
  void Start(absl::StatusOr<SpeechWork> work, SpeechFraming framing);

  bool sends_events() const { return framing_ == SpeechFraming::kEvents; }

  struct Piece {
    std::string bytes;  // at most 64 KiB, perhaps none
    // The end: nothing follows these bytes.
    std::optional<absl::Status> end;
  };
  // What comes next, waiting for it at most that long.
  Piece Take(std::chrono::milliseconds patience) MILLRACE_EXCLUDES(mu_);
  // The client has the end of it.
  void Delivered() MILLRACE_EXCLUDES(mu_);
  // The client is gone or done: stops the work. Idempotent; nothing may be taken afterwards.
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
  SpeechFraming framing_ = SpeechFraming::kAudio;  // set by Start, before others see this
  // These are used by the worker that has the job.
  SpeechAudio audio_;
  SpeechFramer framer_;
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
