#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/byte_buffer.h"
#include "server/rpc/common_trailer.h"
#include "server/rpc/method_table.h"
#include "server/rpc/polling_thread.h"
#include "server/rpc/refusal_pacer.h"

namespace millrace::server {

class GrpcCall;

// Accepts the calls of one polling thread as their headers arrive. Bounds the calls whose request
// has not arrived: each takes some 12 KB, and only its client knows whether the rest will follow.
// When there are too many, the oldest is refused, so that a client that leaves calls incomplete
// cannot lock others out. Used on the polling thread, or before it starts.
class CallAcceptor {
 public:
  using OnRefused =
      std::function<void(absl::StatusCode code, std::string_view method, std::string_view client)>;

  // Service, methods and thread must outlive it. max_incomplete: at least 1. refusals_per_second:
  // see RefusalPacer; while the server stops, nothing is held back. on_incomplete: called for each
  // call that is refused because too many are incomplete. check_message, on_refused, trailer: see
  // RpcServer::Options.
  CallAcceptor(grpc::AsyncGenericService& service, const MethodTable& methods,
               PollingThread& thread, size_t max_incomplete, double refusals_per_second,
               std::function<void()> on_incomplete,
               std::function<absl::Status(const ByteBuffer&)> check_message, OnRefused on_refused,
               const CommonTrailer* trailer)
      : service_(service),
        methods_(methods),
        thread_(thread),
        max_incomplete_(max_incomplete),
        refusal_pacer_(refusals_per_second),
        on_incomplete_(std::move(on_incomplete)),
        check_message_(std::move(check_message)),
        on_refused_(std::move(on_refused)) {
    if (trailer != nullptr) trailer_.emplace(*trailer);
  }
  CallAcceptor(const CallAcceptor&) = delete;
  CallAcceptor& operator=(const CallAcceptor&) = delete;

  // Waits for one more call. Before the thread starts; may throw.
  void AwaitCall();
  // Does the same when a call has come. For want of memory it tries again when a call ends, of
  // which there is at least this one.
  void AwaitNextCall() noexcept {
    ++owed_;
    AwaitOwedCalls();
  }
  // Tries again what failed for want of memory.
  void AwaitOwedCalls() noexcept;
  // Refuses as UNAVAILABLE all calls that are incomplete, now and later, and holds back no answer
  // any more. Any thread; once.
  void RefuseIncompleteCalls() { thread_.Post(refuse_all_); }

  // Returns the time for which to hold back the answer to a refused call. caller: see RefusalPacer.
  Duration DelayOfRefusal(std::chrono::system_clock::time_point deadline, size_t caller);

  // Returns why the message must end its call; OK if it need not.
  absl::Status CheckMessage(const ByteBuffer& message) const {
    return check_message_ ? check_message_(message) : absl::OkStatus();
  }
  // Tells of a call that is refused. Any thread.
  void Refused(absl::StatusCode code, std::string_view method, std::string_view client) const {
    if (on_refused_) on_refused_(code, method, client);
  }

  // Returns what is added to the trailers of calls; null: nothing.
  CommonTrailer::Reader* trailer() { return trailer_ ? &*trailer_ : nullptr; }

  const MethodTable& methods() const { return methods_; }
  PollingThread& thread() const { return thread_; }

 private:
  friend class GrpcCall;

  class RefuseAll final : public Mail {
   public:
    explicit RefuseAll(CallAcceptor& acceptor) : acceptor_(acceptor) {}
    void Deliver() override;

   private:
    CallAcceptor& acceptor_;
  };

  // Calls by age, of which each may be in one such list. An intrusive list: it allocates nothing.
  class CallList {
   public:
    void Add(GrpcCall& call);
    // Does nothing if the call is in no list.
    void Remove(GrpcCall& call);
    GrpcCall* oldest() const { return oldest_; }
    size_t size() const { return size_; }

   private:
    GrpcCall* oldest_ = nullptr;
    GrpcCall* newest_ = nullptr;
    size_t size_ = 0;
  };

  void AddIncomplete(GrpcCall& call);
  void RemoveIncomplete(GrpcCall& call) { incomplete_.Remove(call); }
  void RefuseOldest();
  // Removes the call and finishes it with the status that the function makes.
  template <typename MakeStatus>
  void Refuse(GrpcCall& call, MakeStatus make) noexcept;

  grpc::AsyncGenericService& service_;
  const MethodTable& methods_;
  PollingThread& thread_;
  const size_t max_incomplete_;
  RefusalPacer refusal_pacer_;
  const std::function<void()> on_incomplete_;
  const std::function<absl::Status(const ByteBuffer&)> check_message_;
  const OnRefused on_refused_;
  std::optional<CommonTrailer::Reader> trailer_;
  size_t owed_ = 0;  // calls to wait for, for which there was no memory
  bool refusing_all_ = false;
  RefuseAll refuse_all_{*this};
  CallList incomplete_;
  CallList held_;  // refused calls whose answers are held back
};

}  // namespace millrace::server
