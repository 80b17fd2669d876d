#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_stream.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// One synthesis over Wyoming, whose text arrives as a whole or while it is being written. Workers
// add events, and the connection's thread takes them out and writes them. When too much waits, the
// job is parked until the client has caught up, so that a slow reader holds neither memory nor a
// worker.
//
// It is shared by the connection and, until its end, by the work; the last of them counts the
// request and returns its ticket.
class SynthesisReply final : public Reply,
                             public SelfShared<SynthesisReply>,
                             private TextStream::Listener {
 public:
  enum class Kind : uint8_t { kWhole, kStreamed };

  // address: of the client, for the log. changed: called on any thread when there is something to
  // take, or text is wanted again; it must outlive all copies of the pointer to this.
  SynthesisReply(Services& services, Kind kind, std::string address, std::function<void()> changed);
  ~SynthesisReply() override;

  // Begins, or ends with the error of the options, which have no text. Must be called once, before
  // anything else.
  void Start(absl::StatusOr<SpeechRequest> options);

  // These are called by the connection's thread. They never block.

  // Speaks a whole text.
  void Speak(std::string_view text);
  // Adds text, which may be empty.
  void Push(std::string_view text);
  // Ends the text.
  void EndText();
  bool WantsText() const { return text_.WantsText(); }
  TimePoint deadline() const { return text_.deadline(); }
  // Stops the work and ends with the error. Idempotent.
  void Fail(const absl::Status& status) { text_.Fail(status); }

  struct Piece {
    std::string events;  // whole ones, of some 64 KiB at most, perhaps none
    // Set at the end: nothing follows these events. An error was not sent yet.
    std::optional<absl::Status> end;
  };
  // Returns the next events, without waiting for them.
  Piece Take() MILLRACE_EXCLUDES(mu_);
  // Records that the client received the end.
  void Delivered() MILLRACE_EXCLUDES(mu_);

  void Emit(models::Output output) override { text_.Emit(std::move(output)); }
  void Finish(const absl::Status& status) override { text_.OnJobEnd(status); }
  bool Congested() const override MILLRACE_EXCLUDES(mu_);
  void Park(std::unique_ptr<Job> job) override MILLRACE_EXCLUDES(mu_);

 private:
  // Returns true if the text was taken.
  bool TakeText(std::string_view text);
  void OnAudio(const std::string& bytes, models::SynthesizeOutput piece) override;
  void OnTextWanted() override { changed_(); }
  void DropParked() override MILLRACE_EXCLUDES(mu_);
  void OnEnd(const absl::Status& status) override MILLRACE_EXCLUDES(mu_);

  void Append(std::string event) MILLRACE_EXCLUDES(mu_);
  // Add the events of audio, with the one that it starts with.
  void AppendStart();
  void AppendAudio(std::string_view samples);
  bool CaughtUp() const MILLRACE_REQUIRES(mu_);

  RequestRun run_;
  const Kind kind_;
  const std::string address_;
  const std::function<void()> changed_;
  TextStream text_;
  // The worker that has the job uses these members.
  bool started_ = false;
  size_t sent_bytes_ = 0;  // of samples

  mutable Mutex mu_;
  std::deque<std::string> pending_ MILLRACE_GUARDED_BY(mu_);  // events
  size_t pending_bytes_ MILLRACE_GUARDED_BY(mu_) = 0;
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
  bool failed_ MILLRACE_GUARDED_BY(mu_) = false;  // nobody would wake a parked job
  bool delivered_ MILLRACE_GUARDED_BY(mu_) = false;
  std::unique_ptr<Job> parked_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
