#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/status.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "server/rpc/byte_call.h"
#include "server/rpc/grpc_buffer.h"
#include "server/rpc/polling_thread.h"
#include "server/rpc/rpc_service.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

class CallAcceptor;

// A call over gRPC. Created before the call arrives; deletes itself after Finish and the last
// callback. The method's function runs once the first message has arrived, or the client has ended
// its stream without one. Only the polling thread starts operations and calls the handler.
class GrpcCall final : public ByteCall, public SelfOwned<GrpcCall> {
 public:
  // Waits for the next call. Must be called on the polling thread, or before it starts.
  explicit GrpcCall(CallAcceptor& acceptor);
  ~GrpcCall() { thread_.RemoveCall(); }

  std::string_view Metadata(std::string_view key) const override;
  bool HasSeveral(std::string_view key) const override;
  std::string peer() const override { return context_.peer(); }
  std::chrono::system_clock::time_point deadline() const override { return context_.deadline(); }
  void AddTrailingMetadata(const std::string& key, const std::string& value) override {
    context_.AddTrailingMetadata(key, value);
  }
  void TryCancel() override { context_.TryCancel(); }
  void StartRead(ByteBuffer* message) override;
  void StartWrite(const ByteBuffer* message) override;
  void Finish(const absl::Status& status) override;
  void Finish(ByteBuffer reply) override;

 private:
  friend class CallAcceptor;

  template <void (GrpcCall::*kDeliver)()>
  class CallMail final : public Mail {
   public:
    explicit CallMail(GrpcCall& call) : call_(call) {}
    void Deliver() override { (call_.*kDeliver)(); }

   private:
    GrpcCall& call_;
  };
  template <void (GrpcCall::*kOnComplete)(bool)>
  class CallEvent final : public Event {
   public:
    explicit CallEvent(GrpcCall& call) : call_(call) {}
    void OnComplete(bool ok) override { (call_.*kOnComplete)(ok); }

   private:
    GrpcCall& call_;
  };

  // Runs the function. Returns false if it threw, for example std::bad_alloc, which costs only this
  // call.
  template <typename Function>
  bool Try(Function function) noexcept;
  // Does the same, and cancels the call if it threw: the handler gets OnCancel as for any
  // cancellation.
  template <typename Function>
  bool Guard(Function function) noexcept;
  // Finishes the call after an exception. Allocates nothing.
  void Fail() noexcept;

  void Arrived(bool ok);
  void FirstRead(bool ok);
  // Runs the method's function.
  void Begin();
  void BeginElsewhere();
  void Begun();
  void Read();
  void ReadDone(bool ok);
  // Returns false, and ends the call, if the message must not be taken.
  bool Accept(const ByteBuffer& message);
  // Tells that the call is refused with this code.
  void CountRefusal(absl::StatusCode code) noexcept;
  void NotifyFirstRead() { ReadDone(first_read_ok_); }
  void Write();
  void WriteDone(bool ok);
  void End();
  void EndBehindWrites();
  void AddCommonTrailer();
  void EndNow();
  void EndHeldBack(bool);
  // Returns true if the answer goes out later.
  size_t Caller() const;
  bool HoldBack();
  void Ended(bool);
  void Closed(bool);
  void NotifyCancelled();
  bool IsFirstFinish() { return !finished_.exchange(true, std::memory_order_relaxed); }
  // Ends one of `pending_`; the call is deleted with the last one.
  void Release();

  CallAcceptor& acceptor_;
  PollingThread& thread_;
  GrpcCall* older_ = nullptr;  // neighbours in a list of the acceptor
  GrpcCall* newer_ = nullptr;
  const RpcService::Method* method_ = nullptr;  // set when the headers have arrived
  grpc::GenericServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  bool has_arrived_ = false;
  bool first_read_ok_ = false;
  bool first_is_unread_ = false;  // the handler of a stream has not read the first message
  bool has_begun_ = false;        // the method's function has returned
  ByteBuffer* message_read_ = nullptr;
  const ByteBuffer* message_written_ = nullptr;
  std::atomic<bool> is_writing_{false};
  bool ends_behind_write_ = false;
  std::atomic<bool> finished_{false};
  std::optional<ByteBuffer> reply_;
  grpc::Status status_;                   // OK until Finish says otherwise
  std::optional<grpc::Alarm> held_back_;  // set while the answer is held back

  CallEvent<&GrpcCall::Arrived> arrived_{*this};
  CallEvent<&GrpcCall::FirstRead> first_read_{*this};
  CallMail<&GrpcCall::NotifyFirstRead> notify_first_read_{*this};
  CallMail<&GrpcCall::BeginElsewhere> begin_elsewhere_{*this};
  CallMail<&GrpcCall::Begun> begun_{*this};
  CallMail<&GrpcCall::Read> read_{*this};
  CallEvent<&GrpcCall::ReadDone> read_done_{*this};
  CallMail<&GrpcCall::Write> write_{*this};
  CallEvent<&GrpcCall::WriteDone> write_done_{*this};
  CallMail<&GrpcCall::End> end_{*this};
  CallEvent<&GrpcCall::EndHeldBack> end_held_back_{*this};
  CallEvent<&GrpcCall::Ended> ended_{*this};
  CallEvent<&GrpcCall::Closed> closed_{*this};
  // The number of events to come: the return of the method's function, the end, gRPC's close of the
  // call, and each read and write that was started.
  std::atomic<int> pending_{3};
};

}  // namespace millrace::server
