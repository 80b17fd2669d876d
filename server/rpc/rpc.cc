#include "server/rpc/rpc.h"

#include <exception>
#include <utility>

#include "server/logging/logging.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

Rpc::Rpc(RpcService& service, size_t method, PollingThread& thread)
    : service_(service), method_(method), thread_(thread) {
  thread_.AddCall();
  context_.AsyncNotifyWhenDone(&closed_);
  service_.Request(method_, context_, request_, stream_, thread_.queue(), came_);
}

template <typename Tell>
void Rpc::Guard(Tell tell) noexcept {
  try {
    tell();
  } catch (const std::exception& error) {
    logging::Error("a call failed and is cancelled", {{"reason", error.what()}});
    context_.TryCancel();
  } catch (...) {
    logging::Error("a call failed and is cancelled");
    context_.TryCancel();
  }
}

void Rpc::Came(bool ok) {
  if (!ok) {  // the server shuts down; gRPC does not tell of the close of what never came
    delete this;
    return;
  }
  Await(service_, method_, thread_);
  if (service_.IsLong(method_, request_)) return thread_.background().Post(begin_elsewhere_);
  service_.Begin(method_, *this);
  Begun();
}

void Rpc::BeginElsewhere() {
  service_.Begin(method_, *this);
  thread_.Post(begun_);
}

void Rpc::Begun() {
  has_begun_ = true;
  TellOfCancel();
  Release();
}

void Rpc::StartRead(grpc::ByteBuffer* message) {
  message_read_ = message;
  ++pending_;
  thread_.Post(read_);
}

void Rpc::ReadDone(bool ok) {
  Guard([this, ok] { handler_->OnReadDone(ok); });
  Release();
}

void Rpc::StartWrite(const grpc::ByteBuffer* message) {
  message_written_ = message;
  ++pending_;
  thread_.Post(write_);
}

void Rpc::WriteDone(bool ok) {
  Guard([this, ok] { handler_->OnWriteDone(ok); });
  Release();
}

void Rpc::Finish(const grpc::Status& status) {
  if (!IsFirstFinish()) return;
  status_ = status;
  thread_.Post(end_);
}

void Rpc::Finish(grpc::ByteBuffer reply) {
  if (!IsFirstFinish()) return;
  reply_ = std::move(reply);
  thread_.Post(end_);
}

void Rpc::End() {
  if (reply_) {
    stream_.WriteAndFinish(*reply_, grpc::WriteOptions(), status_, &ended_);
  } else {
    stream_.Finish(status_, &ended_);
  }
}

void Rpc::Closed(bool) {
  cancelled_ = context_.IsCancelled();
  TellOfCancel();
  Release();
}

void Rpc::TellOfCancel() {
  // Until the method's function has returned, the handler is its thread's.
  if (cancelled_ && has_begun_ && handler_ != nullptr) Guard([this] { handler_->OnCancel(); });
}

void Rpc::Release() {
  if (--pending_ != 0) return;
  if (handler_ != nullptr) handler_->OnDone();
  delete this;
}

}  // namespace millrace::server
