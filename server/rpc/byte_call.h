#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// One call as its bytes come and go, whatever transports it: unary, with a stream of replies, or
// with streams both ways. The transport makes it; it is gone once Finish has been called and the
// handler has been told everything.
//
// Operations may be called on any thread: at most one read and one write at a time, and Finish
// last. The handler is called on the transport's thread, one call at a time, so its functions must
// be short and must not block. If one of them throws, as for want of memory, the call is cancelled.
class ByteCall {
 public:
  // Is told what happens to a call.
  class Handler {
   public:
    // The client has gone, or the deadline has passed: at most once, and after the method's
    // function has returned. Finish must be called all the same.
    virtual void OnCancel() {}
    // Not ok: no message was read, and none will be.
    virtual void OnReadDone(bool /*ok*/) {}
    // The client has room for the message. Not ok: it never will.
    virtual void OnWriteDone(bool /*ok*/) {}
    // The end. The call is gone by the return; handlers end here (self_owned.h).
    virtual void OnDone() = 0;

   protected:
    ~Handler() = default;
  };

  ByteCall(const ByteCall&) = delete;
  ByteCall& operator=(const ByteCall&) = delete;

  // Must be called before the method's function returns, if anything is to be told.
  void SetHandler(Handler& handler) { handler_ = &handler; }

  // The one message of a unary call or of one with a stream of replies.
  const ByteBuffer& request() const { return request_; }
  // Returns true if OnCancel has been told, or would have been. On the transport's thread.
  bool cancelled() const { return cancelled_; }

  // Returns what the client sent under that key; empty if it sent nothing.
  virtual std::string_view Metadata(std::string_view key) const = 0;
  // The client's address, as gRPC writes it.
  virtual std::string peer() const = 0;
  // Returns system_clock's max if there is none.
  virtual std::chrono::system_clock::time_point deadline() const = 0;

  // Must be called before Finish, on the same thread.
  virtual void AddTrailingMetadata(const std::string& key, const std::string& value) = 0;
  // The handler is told later, never before this returns.
  virtual void TryCancel() = 0;
  // The message must live until OnReadDone.
  virtual void StartRead(ByteBuffer* message) = 0;
  // The message must live until OnWriteDone.
  virtual void StartWrite(const ByteBuffer* message) = 0;
  // Only the first Finish counts.
  virtual void Finish(const absl::Status& status) = 0;
  // The end of a unary call that went well.
  virtual void Finish(ByteBuffer reply) = 0;

 protected:
  ByteCall() = default;
  ~ByteCall() = default;

  ByteBuffer request_;
  Handler* handler_ = nullptr;
  bool cancelled_ = false;
};

}  // namespace millrace::server
