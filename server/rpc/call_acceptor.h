#pragma once

#include <grpcpp/generic/async_generic_service.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
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

  struct Options {
    // The most calls of all connections whose request has not arrived.
    size_t max_incomplete_calls = 4096;
    // The calls a second that are refused with RESOURCE_EXHAUSTED at once; see RefusalPacer. 0:
    // all.
    double refusals_per_second = 250;
    // Called on a polling thread for each call that is refused by max_incomplete_calls.
    std::function<void()> on_incomplete_call_refused = [] {};
    // Called on a polling thread with each message of a client. What it does not accept ends the
    // call with that status.
    std::function<absl::Status(const ByteBuffer&)> check_message = {};
    // Called on any thread for each call that is refused before a service sees it, because its
    // method is unknown or its message is not accepted, and for each that a service ends with
    // UNAUTHENTICATED or PERMISSION_DENIED.
    OnRefused on_refused = {};
    // Added to the trailers of calls; null: none. It must outlive the server.
    const CommonTrailer* trailer = nullptr;
  };

  // Service, methods and thread must outlive it. The limits are those of this thread, of which
  // max_incomplete_calls is at least 1. While the server stops, nothing is held back.
  CallAcceptor(grpc::AsyncGenericService& service, const MethodTable& methods,
               PollingThread& thread, Options options)
      : service_(service),
        methods_(methods),
        thread_(thread),
        options_(std::move(options)),
        refusal_pacer_(options_.refusals_per_second) {
    if (options_.trailer != nullptr) trailer_.emplace(*options_.trailer);
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
  // Waits until the answers of those and of all calls that had ended before are written, or until
  // the deadline. Not the polling thread; once, after RefuseIncompleteCalls.
  void AwaitAnswers(std::chrono::system_clock::time_point deadline) {
    answers_written_.get_future().wait_until(deadline);
  }

  // Returns the time for which to hold back the answer to a refused call. caller: see RefusalPacer.
  Duration DelayOfRefusal(std::chrono::system_clock::time_point deadline, size_t caller);

  // Returns why the message must end its call; OK if it need not.
  absl::Status CheckMessage(const ByteBuffer& message) const {
    return options_.check_message ? options_.check_message(message) : absl::OkStatus();
  }
  // Tells of a call that is refused. Any thread.
  void Refused(absl::StatusCode code, std::string_view method, std::string_view client) const {
    if (options_.on_refused) options_.on_refused(code, method, client);
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
  // Count the calls that have ended, until their answers are written.
  void AddAnswer() { ++answers_; }
  void RemoveAnswer() {
    --answers_;
    TellAnswersWritten();
  }
  // Ends AwaitAnswers if no answer is left.
  void TellAnswersWritten() {
    if (answers_ == 0 && std::exchange(awaits_answers_, false)) answers_written_.set_value();
  }
  // Removes the call and finishes it with the status that the function makes.
  template <typename MakeStatus>
  void Refuse(GrpcCall& call, MakeStatus make) noexcept;

  grpc::AsyncGenericService& service_;
  const MethodTable& methods_;
  PollingThread& thread_;
  const Options options_;
  RefusalPacer refusal_pacer_;
  std::optional<CommonTrailer::Reader> trailer_;
  size_t owed_ = 0;  // calls to wait for, for which there was no memory
  bool refusing_all_ = false;
  RefuseAll refuse_all_{*this};
  CallList incomplete_;
  CallList held_;  // refused calls whose answers are held back
  size_t answers_ = 0;
  bool awaits_answers_ = false;
  std::promise<void> answers_written_;
};

}  // namespace millrace::server
