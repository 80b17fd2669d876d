#include "server/rpc/grpc_call.h"

#include <exception>
#include <utility>

#include "models/core/strings.h"
#include "server/logging/logging.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/call_acceptor.h"
#include "server/rpc/status_mapping.h"

namespace millrace::server {

GrpcCall::GrpcCall(CallAcceptor& acceptor) : acceptor_(acceptor), thread_(acceptor.thread()) {
  thread_.AddCall();
  context_.AsyncNotifyWhenDone(&closed_);
  acceptor_.service_.RequestCall(&context_, &stream_, &thread_.queue(), &thread_.queue(),
                                 &arrived_);
}

template <typename Callback>
void GrpcCall::Guard(Callback callback) noexcept {
  try {
    callback();
  } catch (const std::exception& error) {
    logging::Error("a call failed and is cancelled", {{"reason", error.what()}});
    context_.TryCancel();
  } catch (...) {
    logging::Error("a call failed and is cancelled");
    context_.TryCancel();
  }
}

void GrpcCall::Arrived(bool ok) {
  // The server shuts down. gRPC sends no close event for a call that never arrived.
  if (!ok) return DeleteThis();
  acceptor_.AwaitCall();
  method_ = acceptor_.methods().Find(context_.method());
  if (method_ == nullptr) {
    Finish(absl::UnimplementedError(acceptor_.methods().ExplainUnknown(context_.method())));
    return Begun();
  }
  stream_.Read(&ToGrpc(request_), &first_read_);
  acceptor_.AddIncomplete(*this);
}

void GrpcCall::FirstRead(bool ok) {
  acceptor_.RemoveIncomplete(*this);
  if (!ok && !method_->takes_stream) {
    Finish(absl::InternalError(
        StrCat("the call ended without a request; ", method_->path, " takes exactly one message")));
  }
  if (finished_.load(std::memory_order_relaxed)) return Begun();
  has_arrived_ = true;
  first_read_ok_ = ok;
  first_is_unread_ = method_->takes_stream;
  if (method_->IsLong(request_)) return thread_.background().Post(begin_elsewhere_);
  Begin();
  Begun();
}

void GrpcCall::Begin() {
  try {
    method_->function(*this);
  } catch (const std::exception& error) {
    Finish(absl::InternalError(error.what()));
  }
}

void GrpcCall::BeginElsewhere() {
  Begin();
  thread_.Post(begun_);
}

void GrpcCall::Begun() {
  has_begun_ = true;
  NotifyCancelled();
  Release();
}

std::string_view GrpcCall::Metadata(std::string_view key) const {
  const auto& metadata = context_.client_metadata();
  const auto found = metadata.find({key.data(), key.size()});
  if (found == metadata.end()) return {};
  return {found->second.data(), found->second.size()};
}

void GrpcCall::StartRead(ByteBuffer* message) {
  message_read_ = message;
  ++pending_;
  if (!std::exchange(first_is_unread_, false)) return thread_.Post(read_);
  *message = std::move(request_);
  thread_.PostLater(notify_first_read_);
}

void GrpcCall::ReadDone(bool ok) {
  Guard([this, ok] { handler_->OnReadDone(ok); });
  Release();
}

void GrpcCall::StartWrite(const ByteBuffer* message) {
  message_written_ = message;
  ++pending_;
  thread_.Post(write_);
}

void GrpcCall::WriteDone(bool ok) {
  Guard([this, ok] { handler_->OnWriteDone(ok); });
  Release();
}

void GrpcCall::Finish(const absl::Status& status) {
  if (!IsFirstFinish()) return;
  if (!status.ok()) status_ = ToGrpcStatus(status);
  thread_.Post(end_);
}

void GrpcCall::Finish(ByteBuffer reply) {
  if (!IsFirstFinish()) return;
  reply_ = std::move(reply);
  thread_.Post(end_);
}

void GrpcCall::End() {
  if (!HoldBack()) EndNow();
}

bool GrpcCall::HoldBack() {
  // An incomplete call is refused at once, to free its memory.
  if (status_.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED || !has_arrived_) return false;
  const Duration delay = acceptor_.DelayOfRefusal(deadline());
  if (delay == Duration::zero()) return false;
  held_back_.emplace().Set(&thread_.queue(), std::chrono::system_clock::now() + delay,
                           &end_held_back_);
  return true;
}

void GrpcCall::EndNow() {
  if (reply_) {
    stream_.WriteAndFinish(ToGrpc(*reply_), grpc::WriteOptions(), status_, &ended_);
  } else {
    stream_.Finish(status_, &ended_);
  }
}

void GrpcCall::Closed(bool) {
  cancelled_ = context_.IsCancelled();
  NotifyCancelled();
  Release();
}

void GrpcCall::NotifyCancelled() {
  // Until the method's function has returned, the handler belongs to its thread.
  if (cancelled_ && has_begun_ && handler_ != nullptr) Guard([this] { handler_->OnCancel(); });
}

void GrpcCall::Release() {
  if (--pending_ != 0) return;
  if (handler_ != nullptr) handler_->OnDone();
  DeleteThis();
}

}  // namespace millrace::server
