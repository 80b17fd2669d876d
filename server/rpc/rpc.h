#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "grpcpp/alarm.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/status.h"
#include "server/rpc/polling_thread.h"

namespace millrace::server {

class CallAcceptor;
class RpcService;

// One call as it comes and goes over the wire, in bytes: unary, with a stream of replies, or with
// streams both ways. It owns itself: made before the call comes, gone once Finish has been called
// and all has been told. The method's function is called once the first message has arrived, or the
// client has ended its stream without one.
//
// Operations may be called on any thread, and the polling thread starts them: at most one read and
// one write at a time, and Finish last. What is told comes on the polling thread, so it must be
// short and must not block.
class Rpc {
 public:
  // What is told of a call.
  class Handler {
   public:
    // The client has gone, or the deadline has passed: at most once, and after the method's
    // function has returned. Finish must be called all the same.
    virtual void OnCancel() {}
    // Not ok: no message was read, and none will be.
    virtual void OnReadDone(bool /*ok*/) {}
    // The client has room for the message. Not ok: it never will.
    virtual void OnWriteDone(bool /*ok*/) {}
    // The end. The call is gone by the return; handlers delete themselves here.
    virtual void OnDone() = 0;

   protected:
    ~Handler() = default;
  };

  Rpc(const Rpc&) = delete;
  Rpc& operator=(const Rpc&) = delete;

  // To be set before the method's function returns, if anything is to be told.
  void SetHandler(Handler& handler) { handler_ = &handler; }

  // The one message of a unary call or of one with a stream of replies.
  const grpc::ByteBuffer& request() const { return request_; }
  const std::multimap<grpc::string_ref, grpc::string_ref>& client_metadata() const {
    return context_.client_metadata();
  }
  // The client's address, as gRPC writes it.
  std::string peer() const { return context_.peer(); }
  // system_clock's max: none.
  std::chrono::system_clock::time_point deadline() const { return context_.deadline(); }
  // Whether OnCancel has been told, or would have been. On the polling thread.
  bool cancelled() const { return cancelled_; }

  // Before Finish, on the thread that calls it.
  void AddTrailingMetadata(const std::string& key, const std::string& value) {
    context_.AddTrailingMetadata(key, value);
  }
  void TryCancel() { context_.TryCancel(); }
  // The message must live until OnReadDone.
  void StartRead(grpc::ByteBuffer* message);
  // The message must live until OnWriteDone.
  void StartWrite(const grpc::ByteBuffer* message);
  // Only the first Finish counts.
  void Finish(const grpc::Status& status);
  // The end of a unary call that went well.
  void Finish(grpc::ByteBuffer reply);

 private:
  friend class CallAcceptor;

  template <void (Rpc::*kDeliver)()>
  class RpcMail final : public Mail {
   public:
    explicit RpcMail(Rpc& rpc) : rpc_(rpc) {}
    void Deliver() override { (rpc_.*kDeliver)(); }

   private:
    Rpc& rpc_;
  };
  template <void (Rpc::*kHappen)(bool)>
  class RpcEvent final : public Event {
   public:
    explicit RpcEvent(Rpc& rpc) : rpc_(rpc) {}
    void Happen(bool ok) override { (rpc_.*kHappen)(ok); }

   private:
    Rpc& rpc_;
  };

  // Waits for the next call. On the polling thread, or before it starts.
  explicit Rpc(CallAcceptor& acceptor);
  ~Rpc() { thread_.RemoveCall(); }

  // Tells the handler of something. What that throws, as for want of memory, costs this call alone:
  // it is cancelled, of which the handler is told as of any other cancellation.
  template <typename Tell>
  void Guard(Tell tell) noexcept;

  void Came(bool ok);
  void FirstRead(bool ok);
  void BeginElsewhere();
  void Begun();
  void Read() { stream_.Read(message_read_, &read_done_); }
  void ReadDone(bool ok);
  void TellOfFirstRead() { ReadDone(first_read_ok_); }
  void Write() { stream_.Write(*message_written_, &write_done_); }
  void WriteDone(bool ok);
  void End();
  void EndNow();
  void EndHeldBack(bool) { EndNow(); }
  // Whether the answer goes out later.
  bool HoldBack();
  void Ended(bool) { Release(); }
  void Closed(bool);
  void TellOfCancel();
  bool IsFirstFinish() { return !finished_.exchange(true, std::memory_order_relaxed); }
  // Of one of `pending_`; with the last the call is gone.
  void Release();

  CallAcceptor& acceptor_;
  PollingThread& thread_;
  Rpc* older_ = nullptr;  // of the acceptor's list
  Rpc* newer_ = nullptr;
  RpcService* service_ = nullptr;  // from the headers on
  size_t method_ = 0;
  grpc::GenericServerContext context_;
  grpc::ServerAsyncReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer> stream_{&context_};
  grpc::ByteBuffer request_;  // the first message
  bool has_arrived_ = false;
  bool first_read_ok_ = false;
  bool first_is_unread_ = false;  // by the handler of a stream
  Handler* handler_ = nullptr;
  bool cancelled_ = false;
  bool has_begun_ = false;  // the method's function has returned
  grpc::ByteBuffer* message_read_ = nullptr;
  const grpc::ByteBuffer* message_written_ = nullptr;
  std::atomic<bool> finished_{false};
  std::optional<grpc::ByteBuffer> reply_;
  grpc::Status status_;
  std::optional<grpc::Alarm> held_back_;  // of an answer that goes out later

  RpcEvent<&Rpc::Came> came_{*this};
  RpcEvent<&Rpc::FirstRead> first_read_{*this};
  RpcMail<&Rpc::TellOfFirstRead> tell_of_first_read_{*this};
  RpcMail<&Rpc::BeginElsewhere> begin_elsewhere_{*this};
  RpcMail<&Rpc::Begun> begun_{*this};
  RpcMail<&Rpc::Read> read_{*this};
  RpcEvent<&Rpc::ReadDone> read_done_{*this};
  RpcMail<&Rpc::Write> write_{*this};
  RpcEvent<&Rpc::WriteDone> write_done_{*this};
  RpcMail<&Rpc::End> end_{*this};
  RpcEvent<&Rpc::EndHeldBack> end_held_back_{*this};
  RpcEvent<&Rpc::Ended> ended_{*this};
  RpcEvent<&Rpc::Closed> closed_{*this};
  // What is still to come: the return of the method's function, the end, that gRPC has closed the
  // call, and each read and write from its being asked for.
  std::atomic<int> pending_{3};
};

}  // namespace millrace::server
