#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "millrace/v1/synthesis.pb.h"
#include "models/text/sentence_stream.h"
#include "mps_runtime/base/mutex.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/millrace/speech_messages.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"
#include "server/requests/stream_registry.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// Speaks a text that is still being written. Complete sentences that have arrived are spoken as one
// job after another, so the call queues like any other and occupies no worker while it waits for
// text. When too much text waits to be spoken, the client is not read from.
class TextStreamCall final : public Reply,
                             public ByteCall::Handler,
                             public StallingStream,
                             public SelfOwned<TextStreamCall> {
 public:
  // Returns the function of a method that such calls serve.
  static RpcService::Function Serving(Services& services);

  TextStreamCall(Services& services, ByteCall& call)
      : call_(call), run_(services, Method::kSynthesizeTextStream, *this), stream_(call, run_) {}

  void Emit(models::Output output) override;
  // Receives the end of a job, or of the call.
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(text_mu_);
  bool Congested() const override { return stream_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { stream_.Park(std::move(job)); }

  TimePoint waiting_since() const override MILLRACE_EXCLUDES(text_mu_);
  void Abort() override { call_.TryCancel(); }

 private:
  // A job may end while it is still being queued; the thread that queues it then handles the end.
  enum class JobState { kNone, kBeingQueued, kQueued };

  void OnReadDone(bool ok) override MILLRACE_EXCLUDES(text_mu_);
  void OnWriteDone(bool ok) override { stream_.OnWriteDone(ok); }
  void OnCancel() override MILLRACE_EXCLUDES(text_mu_);
  void OnDone() override;

  // Starts the first read.
  void Start();
  // Takes the text of the message that was read.
  absl::Status Take() MILLRACE_EXCLUDES(text_mu_);
  absl::Status TakeConfig(v1::SynthesizeRequest config);
  // Ends the call, now or when its job has stopped. Called on the polling thread.
  void Fail(const absl::Status& status) MILLRACE_EXCLUDES(text_mu_);
  // Records a job's end, then begins the next one, or ends the call when nothing more will come.
  // Must be the last call of a function: `this` may be destroyed before it returns.
  void Advance(std::optional<absl::Status> job_end = std::nullopt) MILLRACE_EXCLUDES(text_mu_);
  // Starts the next read unless enough text waits.
  void ReadOn() MILLRACE_EXCLUDES(text_mu_);
  // Makes the next job of the text in config_.
  absl::StatusOr<Work> MakeWork();
  // Ends the call, after the rest of the audio if the status is OK.
  void EndCall(const absl::Status& status);
  // Returns the status of a call whose stream ended without any text.
  absl::Status EmptyStream() const MILLRACE_REQUIRES(text_mu_);
  void EndJob(const absl::Status& status) MILLRACE_REQUIRES(text_mu_);
  void SendAudio(std::string_view bytes, SpeechPiece piece);

  Services& services() const { return run_.services(); }

  ByteCall& call_;
  RequestRun run_;
  ReplyStream stream_;
  ByteBuffer message_;  // the message that is being read
  std::optional<SpeechRequest>
      config_;  // set by the first message; its text is what is spoken next

  // Used by the call's job, of which there is one at a time.
  SpeechAudio audio_;
  size_t first_sentence_ = 0;   // of the job, within the call
  size_t first_character_ = 0;  // of the job, within the text of the call
  size_t sentences_ = 0;        // number begun so far
  std::string text_before_;     // the end of the previous job's text, with its white space

  mutable Mutex text_mu_;
  models::SentenceStream sentences_in_ MILLRACE_GUARDED_BY(text_mu_);
  std::string ready_ MILLRACE_GUARDED_BY(text_mu_);  // for the next job
  size_t characters_ MILLRACE_GUARDED_BY(text_mu_) = 0;
  size_t characters_done_ MILLRACE_GUARDED_BY(text_mu_) = 0;  // before ready_
  TimePoint last_text_ MILLRACE_GUARDED_BY(text_mu_) = run_.start();
  bool reading_ MILLRACE_GUARDED_BY(text_mu_) = false;
  bool ended_ MILLRACE_GUARDED_BY(text_mu_) = false;  // no more text will come
  JobState job_ MILLRACE_GUARDED_BY(text_mu_) = JobState::kNone;
  std::optional<absl::Status> job_end_
      MILLRACE_GUARDED_BY(text_mu_);                    // end of a job that is being queued
  absl::Status failure_ MILLRACE_GUARDED_BY(text_mu_);  // ends the call once there is no job
  bool over_ MILLRACE_GUARDED_BY(text_mu_) = false;     // the call was ended
};

}  // namespace millrace::server
