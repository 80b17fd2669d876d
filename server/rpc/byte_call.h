#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// One call in bytes, whatever transports it: unary, with a stream of replies, or with streams both
// ways. The transport makes it; it is destroyed once Finish was called and the handler has received
// all its callbacks.
//
// Operations may be called on any thread: at most one read and one write at a time, and Finish
// last, perhaps while the last message is being written. Callbacks run on the transport's thread,
// one at a time, so they must be short and must not block. If one of them throws, for example
// std::bad_alloc, the call is cancelled.
class ByteCall {
 public:
  // The receiver of a call's events.
  class Handler {
   public:
    // The client has gone, or the deadline has passed. Called at most once, after the method's
    // function has returned. Finish must still be called.
    virtual void OnCancel() {}
    // A read has ended. Not ok: no message was read, and none will be.
    virtual void OnReadDone(bool /*ok*/) {}
    // A write has ended: the client has room for the message. Not ok: it never will.
    virtual void OnWriteDone(bool /*ok*/) {}
    // The last callback. The call is gone when it returns; handlers end here (self_owned.h).
    virtual void OnDone() = 0;

   protected:
    ~Handler() = default;
  };

  ByteCall(const ByteCall&) = delete;
  ByteCall& operator=(const ByteCall&) = delete;

  // Must be called before the method's function returns, or there are no callbacks.
  void SetHandler(Handler& handler) { handler_ = &handler; }

  // The only message of a unary call or of a call with a stream of replies.
  const ByteBuffer& request() const { return request_; }
  // Returns true if OnCancel was called, or would have been with a handler. Transport's thread
  // only.
  bool cancelled() const { return cancelled_; }

  // Returns the client's metadata of that key; empty if there is none.
  virtual std::string_view Metadata(std::string_view key) const = 0;
  // Returns true if the client has sent different values of that key.
  virtual bool HasSeveral(std::string_view key) const = 0;
  // Returns the client's address, as gRPC writes it.
  virtual std::string peer() const = 0;
  // Returns system_clock's max if there is none.
  virtual std::chrono::system_clock::time_point deadline() const = 0;

  // Names who calls, once that is known for sure; until then it is the client's address. Refusals
  // of one caller hold back the answers to no other's. Must be called before Finish, on the same
  // thread.
  void SetCaller(std::string_view name) { caller_ = std::hash<std::string_view>()(name); }
  // Must be called before Finish, on the same thread.
  virtual void AddTrailingMetadata(const std::string& key, const std::string& value) = 0;
  // OnCancel is called later, never before this returns.
  virtual void TryCancel() = 0;
  // The message must live until OnReadDone.
  virtual void StartRead(ByteBuffer* message) = 0;
  // The message must live until OnWriteDone.
  virtual void StartWrite(const ByteBuffer* message) = 0;
  // Ends the call; only the first Finish counts.
  virtual void Finish(const absl::Status& status) = 0;
  // Ends a unary call successfully.
  virtual void Finish(ByteBuffer reply) = 0;

 protected:
  ByteCall() = default;
  ~ByteCall() = default;

  ByteBuffer request_;
  Handler* handler_ = nullptr;
  size_t caller_ = 0;  // a hash of its name; 0 until it is known
  bool cancelled_ = false;
};

}  // namespace millrace::server
