#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/requests/request_run.h"
#include "server/requests/stream_registry.h"
#include "server/requests/text_stream.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A message of text is decoded on the polling thread. This is far above what a piece of text and
// its settings need.
inline constexpr size_t kMaxTextMessageBytes = 64 << 10;

// The part of a TextStreamCall that depends on its method. It is constructed with its call.
template <typename T>
concept TextStreamTask = requires(T task, const ByteBuffer& message, const Services& services,
                                  TextStream& text, std::string_view bytes,
                                  models::SynthesizeOutput piece, const absl::Status& status,
                                  ReplyStream& stream) {
  { T::kMethod } -> std::convertible_to<Method>;
  // Configures the stream with the first message, and adds the text of each. Called on the
  // transport's thread.
  { task.Take(message, services, text) } -> std::same_as<absl::Status>;
  // Returns the error of a call whose stream ended without any text to speak.
  { task.EmptyStream(text) } -> std::same_as<absl::Status>;
  // Sends a piece of speech. Called on the worker.
  task.SendAudio(bytes, std::move(piece), text, stream);
  // Sends the last of the audio.
  task.SendRest(bytes, text, stream);
  // Returns the status of the call when its stream ended with `status`.
  { task.End(status) } -> std::same_as<absl::Status>;
};

// The gRPC call of a TextStream: messages bring its text, and others carry its audio. When too much
// text waits to be spoken, the client is not read from.
template <TextStreamTask Task>
class TextStreamCall final : public Reply,
                             public ByteCall::Handler,
                             public StallingStream,
                             public SelfOwned<TextStreamCall<Task>>,
                             private TextStream::Listener {
 public:
  // Returns the function of a method that such calls serve.
  static RpcService::Function Serving(Services& services) {
    return [&services](ByteCall& call) { TextStreamCall::Make(services, call).Start(); };
  }

  TextStreamCall(Services& services, ByteCall& call)
      : call_(call),
        run_(services, Task::kMethod, *this, ArrivalOf(call, services)),
        stream_(call, run_),
        text_(run_, LimitOf(call, run_, /*streamed=*/true), *this) {}

  void Emit(models::Output output) override { text_.Emit(std::move(output)); }
  // Receives the end of a job.
  void Finish(const absl::Status& status) override { text_.OnJobEnd(status); }
  bool Congested() const override { return stream_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { stream_.Park(std::move(job)); }

  TimePoint waiting_since() const override {
    const TimePoint reply = stream_.waiting_since();
    if (reply != TimePoint::max()) return reply;  // the client must read first
    const TimePoint text = text_.waiting_since();
    return text == TimePoint::max() ? text : std::max(text, stream_.last_progress());
  }
  void Abort() override { call_.TryCancel(); }

 private:
  void Start() {
    call_.SetHandler(*this);
    services().streams.Add(*this);
    if (absl::Status status = AuthenticateCaller(call_, run_); !status.ok())
      return text_.Fail(status);
    ReadOn();
  }

  void OnReadDone(bool ok) override {
    absl::Status status;
    if (ok) {
      status = OrInternal([this] { return Take(); });
    } else {
      // The client may also have cancelled, which is reported after this.
      text_.EndText();
    }
    reading_ = false;
    if (!status.ok()) return text_.Fail(status);
    ReadOn();
    text_.Advance();
  }
  void OnWriteDone(bool ok) override { stream_.OnWriteDone(ok); }
  void OnCancel() override {
    run_.MarkLeft();
    text_.Fail(absl::CancelledError("the caller went away"));
  }
  void OnDone() override {
    services().streams.Remove(*this);
    stream_.Record();
    this->DeleteThis();
  }

  void OnAudio(const std::string& bytes, models::SynthesizeOutput piece) override {
    task_.SendAudio(bytes, std::move(piece), text_, stream_);
  }
  void OnTextWanted() override { ReadOn(); }
  void DropParked() override { stream_.Stop(); }
  void OnEnd(const absl::Status& status) override {
    stream_.End(OrInternal([&] { return task_.End(SendLast(status)); }));
  }

  // Takes the message that was read.
  absl::Status Take() {
    if (message_.size() > kMaxTextMessageBytes) {
      return InvalidArgument("text: the message has ", message_.size(), " bytes; at most ",
                             kMaxTextMessageBytes, " are allowed");
    }
    return task_.Take(message_, services(), text_);
  }

  // Starts the next read unless enough text waits.
  void ReadOn() {
    if (!text_.WantsText() || reading_.exchange(true)) return;
    message_.Clear();
    call_.StartRead(&message_);
  }

  // Sends what the encoder still holds of a stream that ended with this status, and returns the
  // status.
  absl::Status SendLast(const absl::Status& status) {
    if (!status.ok()) return status;
    if (text_.sentences() == 0) return task_.EmptyStream(text_);
    MILLRACE_ASSIGN_OR_RETURN(const std::string rest, text_.FlushAudio());
    if (!rest.empty()) task_.SendRest(rest, text_, stream_);
    return absl::OkStatus();
  }

  Services& services() const { return run_.services(); }

  ByteCall& call_;
  RequestRun run_;
  ReplyStream stream_;
  TextStream text_;
  Task task_;
  ByteBuffer message_;                // the message that is being read
  std::atomic<bool> reading_{false};  // or taking what was read
};

}  // namespace millrace::server
