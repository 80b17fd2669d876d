#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "server/frontends/grpc/call_metadata.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/grpc/unary_call.h"
#include "server/requests/request_run.h"
#include "server/requests/stream_registry.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// The part of a call with a stream of replies that depends on its method; see UnaryTask.
template <typename T>
concept StreamTask = requires(T task, const ByteBuffer& message, const Services& services,
                              models::Output output, const RequestRun& run,
                              const absl::Status& status, ReplyStream& stream) {
  { T::kMethod } -> std::convertible_to<Method>;
  { task.Decode(message, services) } -> std::same_as<absl::StatusOr<Work>>;
  // Takes an output of the work, and may send messages.
  task.Emit(std::move(output), run, stream);
  // Returns the status of the call when its work ended with `status`; may still send messages.
  { task.End(status, stream) } -> std::same_as<absl::Status>;
};

// A call with one request and a stream of replies.
template <StreamTask Task>
class StreamCall final : public Reply,
                         public ByteCall::Handler,
                         public StallingStream,
                         public SelfOwned<StreamCall<Task>> {
 public:
  // Returns the function of a method that such calls serve.
  static RpcService::Function Serving(Services& services) {
    return [&services](ByteCall& call) { StreamCall::Make(services, call).Start(); };
  }

  StreamCall(Services& services, ByteCall& call)
      : call_(call),
        run_(services, Task::kMethod, *this, ArrivalOf(call, services)),
        stream_(call, run_) {}

  void Emit(models::Output output) override { task_.Emit(std::move(output), run_, stream_); }
  void Finish(const absl::Status& status) override {
    const absl::Status end = OrInternal([&] { return task_.End(status, stream_); });
    AddWarning(task_, call_);
    stream_.End(end);
  }
  bool Congested() const override { return stream_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { stream_.Park(std::move(job)); }

  TimePoint waiting_since() const override { return stream_.waiting_since(); }
  void Abort() override { call_.TryCancel(); }

 private:
  void Start() {
    call_.SetHandler(*this);
    run_.services().streams.Add(*this);
    // A book is heard while it is spoken. A translation has its end in sight.
    const bool streamed = TaskOf(Task::kMethod) == models::Task::kSynthesis;
    const auto end = run_.Begin(DecodeWork(task_, call_, run_), LimitOf(call_, run_, streamed));
    if (end) Finish(*end);
  }

  void OnWriteDone(bool ok) override { stream_.OnWriteDone(ok); }
  void OnCancel() override {
    run_.Cancel();
    stream_.Stop();
  }
  void OnDone() override {
    run_.services().streams.Remove(*this);
    stream_.Record();
    this->DeleteThis();
  }

  ByteCall& call_;
  RequestRun run_;
  ReplyStream stream_;
  Task task_;
};

}  // namespace millrace::server
