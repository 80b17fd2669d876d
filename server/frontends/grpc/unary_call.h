#pragma once

#include <concepts>
#include <utility>

#include "server/frontends/grpc/call_metadata.h"
#include "server/requests/request_run.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// The part of a unary call that depends on its method. It is constructed with its call.
template <typename T>
concept UnaryTask = requires(T task, const ByteBuffer& message, const Services& services,
                             models::Output output, const RequestRun& run,
                             const absl::Status& status, ByteBuffer& reply) {
  { T::kMethod } -> std::convertible_to<Method>;
  // Returns the work that the message asks for, or an error, which ends the call. Checks what needs
  // no model, and finds the model.
  { task.Decode(message, services) } -> std::same_as<absl::StatusOr<Work>>;
  // Takes an output of the work. Called on a worker, one call at a time.
  task.Emit(std::move(output), run);
  // Returns the status of the call when its work ended with `status`; writes the reply if it is OK.
  { task.End(status, run, reply) } -> std::same_as<absl::Status>;
};

// A call with one reply, from its first byte to its last.
template <UnaryTask Task>
class UnaryCall final : public Reply, public ByteCall::Handler, public SelfOwned<UnaryCall<Task>> {
 public:
  // Returns the function of a method that such calls serve.
  static RpcService::Function Serving(Services& services) {
    return [&services](ByteCall& call) { UnaryCall::Make(services, call).Start(); };
  }

  UnaryCall(Services& services, ByteCall& call)
      : call_(call), run_(services, Task::kMethod, *this, ArrivalOf(call, services)) {}

  void Emit(models::Output output) override { task_.Emit(std::move(output), run_); }

  void Finish(const absl::Status& status) override {
    ByteBuffer reply;
    const absl::Status end = OrInternal([&] { return task_.End(status, run_, reply); });
    AddWarning(task_, call_);
    AddTrailers(end, run_, call_);
    run_.Record(end, [this] { return RequesterOf(call_, run_.services()); });
    end.ok() ? call_.Finish(std::move(reply)) : call_.Finish(end);
  }

 private:
  void Start() {
    call_.SetHandler(*this);
    const auto end =
        run_.Begin(DecodeWork(task_, call_, run_), LimitOf(call_, run_, /*streamed=*/false));
    if (end) Finish(*end);
  }

  void OnCancel() override { run_.Cancel(); }
  void OnDone() override { this->DeleteThis(); }

  ByteCall& call_;
  RequestRun run_;
  Task task_;
};

}  // namespace millrace::server
