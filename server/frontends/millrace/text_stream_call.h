#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "millrace/v1/synthesis.pb.h"
#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/millrace/speech_messages.h"
#include "server/requests/request_run.h"
#include "server/requests/stream_registry.h"
#include "server/requests/text_stream.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// The gRPC call of a TextStream: messages bring its text, and others carry its audio. When too much
// text waits to be spoken, the client is not read from.
class TextStreamCall final : public Reply,
                             public ByteCall::Handler,
                             public StallingStream,
                             public SelfOwned<TextStreamCall>,
                             private TextStream::Listener {
 public:
  // Returns the function of a method that such calls serve.
  static RpcService::Function Serving(Services& services);

  TextStreamCall(Services& services, ByteCall& call)
      : call_(call),
        run_(services, Method::kSynthesizeTextStream, *this),
        stream_(call, run_),
        text_(run_, DeadlineOf(call, run_), *this) {}

  void Emit(models::Output output) override { text_.Emit(std::move(output)); }
  // Receives the end of a job.
  void Finish(const absl::Status& status) override { text_.OnJobEnd(status); }
  bool Congested() const override { return stream_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { stream_.Park(std::move(job)); }

  TimePoint waiting_since() const override;
  void Abort() override { call_.TryCancel(); }

 private:
  static constexpr char kConfigMissing[] = "config: the first message must have it";

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override { stream_.OnWriteDone(ok); }
  void OnCancel() override;
  void OnDone() override;

  void OnAudio(const std::string& bytes, models::SynthesizeOutput piece) override;
  void OnTextWanted() override { ReadOn(); }
  void DropParked() override { stream_.DropParked(); }
  void OnEnd(const absl::Status& status) override;

  // Starts the first read.
  void Start();
  // Takes the text of the message that was read.
  absl::Status Take();
  absl::Status TakeConfig(v1::SynthesizeRequest config);
  // Starts the next read unless enough text waits.
  void ReadOn();
  // Returns the status of a call whose stream ended without any text.
  absl::Status EmptyStream() const;
  void SendAudio(std::string_view bytes, SpeechPiece piece);

  Services& services() const { return run_.services(); }

  ByteCall& call_;
  RequestRun run_;
  ReplyStream stream_;
  TextStream text_;
  ByteBuffer message_;                // the message that is being read
  std::atomic<bool> reading_{false};  // or taking what was read
};

}  // namespace millrace::server
