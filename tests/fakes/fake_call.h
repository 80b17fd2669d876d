#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "mps_runtime/base/mutex.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/rpc_service.h"
#include "tests/fakes/byte_text.h"

namespace millrace::testing {

// A call whose transport and client are the test. One thread plays the transport's: it is the one
// that calls DeliverOne and what is made of it. Begin may run there or on a thread of its own, as
// for long messages. Fails the test when a rule of ByteCall is broken.
//
// The client reads everything at once until StopReading. As over gRPC, a client that leaves first
// fails what is read and written, and then is told of by OnCancel.
class FakeCall final : public server::ByteCall {
 public:
  struct Options {
    std::map<std::string, std::string, std::less<>> metadata = {};
    std::chrono::system_clock::time_point deadline = std::chrono::system_clock::time_point::max();
    // Tells of a client that leaves by OnCancel first.
    bool tells_cancel_first = false;
  };

  // A call that takes one message.
  explicit FakeCall(std::string_view request) : FakeCall(request, Options()) {}
  FakeCall(std::string_view request, Options options) : options_(std::move(options)) {
    request_ = server::ByteBuffer(request);
  }
  // A call that takes a stream of messages.
  FakeCall() : FakeCall(Options()) {}
  explicit FakeCall(Options options) : options_(std::move(options)) {}
  ~FakeCall() { EXPECT_TRUE(done_) << "a call was left without its end"; }

  // Runs the method of that name.
  void Begin(server::RpcService& service, std::string_view method) MILLRACE_EXCLUDES(mu_) {
    const auto& methods = service.methods();
    const auto found = std::ranges::find(methods, method, &server::RpcService::Method::name);
    try {
      found->function(*this);
    } catch (const std::exception& error) {
      Finish(absl::InternalError(error.what()));
    }
    MutexLock lock(mu_);
    has_begun_ = true;
    changed_.NotifyAll();
  }

  // The client's side, on any thread.
  void Send(std::string message) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    messages_.push_back(std::move(message));
    changed_.NotifyAll();
  }
  void EndMessages() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    messages_ended_ = true;
    changed_.NotifyAll();
  }
  void Leave() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    has_left_ = true;
    changed_.NotifyAll();
  }
  void StopReading() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    reads_ = false;
    changed_.NotifyAll();
  }
  void ReadOn() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    reads_ = true;
    changed_.NotifyAll();
  }

  // Waits for the next event and tells the handler of it. False when that was the end.
  bool DeliverOne() MILLRACE_EXCLUDES(mu_) {
    Handler* handler = nullptr;
    Tell tell = nullptr;
    bool ok = false;
    bool is_end = false;
    {
      MutexLock lock(mu_);
      while ((tell = TakeEvent(ok, is_end)) == nullptr) changed_.Wait(mu_);
      handler = handler_;
    }
    // A call that only ever answers has no handler.
    if (handler != nullptr) {
      try {
        tell(*handler, ok);
      } catch (const std::exception&) {
        Leave();
      }
    }
    MutexLock lock(mu_);
    taken_ = written_.size();
    told_of_cancel_ = cancelled_;
    done_ = is_end;
    return !is_end;
  }
  // The call's status.
  absl::Status RunToEnd() MILLRACE_EXCLUDES(mu_) {
    while (DeliverOne()) {
    }
    MutexLock lock(mu_);
    return *status_;
  }
  // Delivers until the client has one message more; none when the call ends instead.
  std::optional<std::string> ReadOne() MILLRACE_EXCLUDES(mu_) {
    const size_t before = written().size();
    while (written().size() == before) {
      if (!DeliverOne()) return std::nullopt;
    }
    return written().back();
  }
  // Waits until the server wants to write a message, which the client does not take.
  void AwaitWrite() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (write_ == nullptr) changed_.Wait(mu_);
  }

  // Returns the messages that the client has.
  std::vector<std::string> written() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return written_;
  }
  // Returns how many messages the server knows that the client has.
  size_t taken() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return taken_;
  }
  // Returns true once the server knows that the client has left.
  bool told_of_cancel() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return told_of_cancel_;
  }
  std::string reply() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return ByteText(reply_);
  }
  std::map<std::string, std::string> trailers() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return trailers_;
  }

  bool HasSeveral(std::string_view /*key*/) const override { return false; }
  std::string_view Metadata(std::string_view key) const override {
    const auto found = options_.metadata.find(key);
    return found == options_.metadata.end() ? std::string_view() : found->second;
  }
  std::string peer() const override { return "ipv4:192.0.2.1:4711"; }
  std::chrono::system_clock::time_point deadline() const override { return options_.deadline; }
  void AddTrailingMetadata(const std::string& key, const std::string& value) override
      MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    EXPECT_FALSE(status_) << "trailing metadata after Finish";
    trailers_[key] = value;
    NoteChange();
  }
  void TryCancel() override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    has_left_ = true;
    NoteChange();
  }
  void StartRead(server::ByteBuffer* message) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    EXPECT_EQ(read_, nullptr) << "two reads at once";
    EXPECT_FALSE(status_) << "a read after Finish";
    read_ = message;
    NoteChange();
  }
  void StartWrite(const server::ByteBuffer* message) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    EXPECT_EQ(write_, nullptr) << "two writes at once";
    EXPECT_FALSE(status_) << "a write after Finish";
    write_ = message;
    NoteChange();
  }
  void Finish(const absl::Status& status) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (!status_) status_ = status;
    NoteChange();
  }
  void Finish(server::ByteBuffer reply) override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (status_) return;
    status_ = absl::OkStatus();
    reply_ = std::move(reply);
    NoteChange();
  }

 private:
  using Tell = void (*)(Handler& handler, bool ok);

  // Must follow every operation of the server's.
  void NoteChange() MILLRACE_REQUIRES(mu_) {
    EXPECT_FALSE(done_) << "an operation on a call that is over";
    changed_.NotifyAll();
  }

  // Takes what is to be told now; null if there is nothing yet.
  Tell TakeEvent(bool& ok, bool& is_end) MILLRACE_REQUIRES(mu_) {
    const bool tells_cancel = has_left_ && has_begun_ && !cancelled_;
    if (tells_cancel && options_.tells_cancel_first) return TakeCancel();
    if (write_ != nullptr && (has_left_ || reads_)) {
      ok = !has_left_;
      if (ok) written_.push_back(ByteText(*write_));
      write_ = nullptr;
      return [](Handler& handler, bool done) { handler.OnWriteDone(done); };
    }
    if (read_ != nullptr && (has_left_ || status_ || messages_ended_ || !messages_.empty())) {
      ok = !has_left_ && !status_ && !messages_.empty();
      if (ok) {
        *read_ = server::ByteBuffer(messages_.front());
        messages_.pop_front();
      }
      read_ = nullptr;
      return [](Handler& handler, bool done) { handler.OnReadDone(done); };
    }
    if (tells_cancel) return TakeCancel();
    if (!status_ || !has_begun_ || read_ != nullptr || write_ != nullptr) return nullptr;
    is_end = true;
    return [](Handler& handler, bool) { handler.OnDone(); };
  }
  Tell TakeCancel() MILLRACE_REQUIRES(mu_) {
    cancelled_ = true;
    return [](Handler& handler, bool) { handler.OnCancel(); };
  }

  const Options options_;
  mutable Mutex mu_;
  CondVar changed_;
  std::deque<std::string> messages_ MILLRACE_GUARDED_BY(mu_);  // received from the client
  bool messages_ended_ MILLRACE_GUARDED_BY(mu_) = false;
  bool has_left_ MILLRACE_GUARDED_BY(mu_) = false;
  bool reads_ MILLRACE_GUARDED_BY(mu_) = true;
  bool has_begun_ MILLRACE_GUARDED_BY(mu_) = false;
  server::ByteBuffer* read_ MILLRACE_GUARDED_BY(mu_) = nullptr;
  const server::ByteBuffer* write_ MILLRACE_GUARDED_BY(mu_) = nullptr;
  std::vector<std::string> written_ MILLRACE_GUARDED_BY(mu_);
  std::map<std::string, std::string> trailers_ MILLRACE_GUARDED_BY(mu_);
  server::ByteBuffer reply_ MILLRACE_GUARDED_BY(mu_);
  std::optional<absl::Status> status_ MILLRACE_GUARDED_BY(mu_);
  size_t taken_ MILLRACE_GUARDED_BY(mu_) = 0;
  bool told_of_cancel_ MILLRACE_GUARDED_BY(mu_) = false;
  bool done_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace millrace::testing
