#include "server/rpc/rpc.h"

#include <exception>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/call_acceptor.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

Rpc::Rpc(CallAcceptor& acceptor) : acceptor_(acceptor), thread_(acceptor.thread()) {
  thread_.AddCall();
  context_.AsyncNotifyWhenDone(&closed_);
  acceptor_.service_.RequestCall(&context_, &stream_, &thread_.queue(), &thread_.queue(), &came_);
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
  acceptor_.AwaitCall();
  const MethodTable::Method* const method = acceptor_.methods().Find(context_.method());
  if (method == nullptr) {
    Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED,
                        acceptor_.methods().ExplainUnknown(context_.method())));
    return Begun();
  }
  service_ = method->service;
  method_ = method->index;
  stream_.Read(&request_, &first_read_);
  acceptor_.AddIncomplete(*this);
}

void Rpc::FirstRead(bool ok) {
  acceptor_.RemoveIncomplete(*this);
  const bool takes_stream = service_->TakesStream(method_);
  if (!ok && !takes_stream) {
    Finish(grpc::Status(grpc::StatusCode::INTERNAL,
                        StrCat("the call ended without a request; ", service_->path(method_),
                               " takes exactly one message")));
  }
  if (finished_.load(std::memory_order_relaxed)) return Begun();
  has_arrived_ = true;
  first_read_ok_ = ok;
  first_is_unread_ = takes_stream;
  if (service_->IsLong(method_, request_)) return thread_.background().Post(begin_elsewhere_);
  service_->Begin(method_, *this);
  Begun();
}

void Rpc::BeginElsewhere() {
  service_->Begin(method_, *this);
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
  if (!std::exchange(first_is_unread_, false)) return thread_.Post(read_);
  message->Swap(&request_);
  thread_.PostLater(tell_of_first_read_);
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
  if (!HoldBack()) EndNow();
}

bool Rpc::HoldBack() {
  // An incomplete call is refused to be rid of it.
  if (status_.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED || !has_arrived_) return false;
  const Duration delay = acceptor_.DelayOfRefusal(deadline());
  if (delay == Duration::zero()) return false;
  held_back_.emplace().Set(&thread_.queue(), std::chrono::system_clock::now() + delay,
                           &end_held_back_);
  return true;
}

void Rpc::EndNow() {
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
