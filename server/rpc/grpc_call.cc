#include "server/rpc/grpc_call.h"

#include <grpc/grpc.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "server/logging/logging.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/call_acceptor.h"
#include "server/rpc/status_mapping.h"

namespace millrace::server {
namespace {

// Returns the status of a call for which there is no memory. It allocates nothing.
grpc::Status FailedStatus() { return {grpc::StatusCode::INTERNAL, "the call failed"}; }

}  // namespace

GrpcCall::GrpcCall(CallAcceptor& acceptor) : acceptor_(acceptor), thread_(acceptor.thread()) {
  context_.AsyncNotifyWhenDone(&closed_);
  acceptor_.service_.RequestCall(&context_, &stream_, &thread_.queue(), &thread_.queue(),
                                 &arrived_);
  thread_.AddCall();  // last: what throws before leaves nothing to be counted off
}

template <typename Function>
bool GrpcCall::Try(Function function) noexcept {
  try {
    function();
    return true;
  } catch (const std::exception& error) {
    logging::Error("a call failed", {{"reason", error.what()}});
  } catch (...) {
    logging::Error("a call failed");
  }
  return false;
}

template <typename Function>
bool GrpcCall::Guard(Function function) noexcept {
  if (Try(function)) return true;
  context_.TryCancel();
  return false;
}

void GrpcCall::Fail() noexcept {
  if (!IsFirstFinish()) return;
  status_ = FailedStatus();
  thread_.Post(end_);
}

void GrpcCall::Arrived(bool ok) {
  // The server shuts down. gRPC sends no close event for a call that never arrived.
  if (!ok) return DeleteThis();
  acceptor_.AwaitNextCall();
  if (!Try([this] {
        method_ = acceptor_.methods().Find(context_.method());
        if (method_ == nullptr) {
          CountRefusal(absl::StatusCode::kUnimplemented);
          Finish(absl::UnimplementedError(acceptor_.methods().ExplainUnknown(context_.method())));
        } else {
          stream_.Read(&ToGrpc(request_), &first_read_);
        }
      }))
    Fail();
  if (finished_.load(std::memory_order_relaxed)) return Begun();
  acceptor_.AddIncomplete(*this);
}

void GrpcCall::FirstRead(bool ok) {
  acceptor_.RemoveIncomplete(*this);
  if (!Try([this, ok] {
        if (ok) {
          if (const absl::Status status = acceptor_.CheckMessage(request_); !status.ok()) {
            CountRefusal(status.code());
            Finish(status);
          }
          return;
        }
        if (method_->takes_stream) return;
        Finish(Internal("the call ended without a request; ", method_->path,
                        " takes exactly one message"));
      }))
    Fail();
  if (finished_.load(std::memory_order_relaxed)) return Begun();
  has_arrived_ = true;
  first_read_ok_ = ok;
  first_is_unread_ = method_->takes_stream;
  if (!method_->IsLong(request_)) {
    Begin();
  } else if (Try([this] { thread_.background().Post(begin_elsewhere_); })) {
    return;
  } else {
    Fail();
  }
  Begun();
}

void GrpcCall::Begin() {
  try {
    method_->function(*this);
  } catch (const std::exception& error) {
    if (!Try([&] { Finish(Internal(error.what())); })) Fail();
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

bool GrpcCall::HasSeveral(std::string_view key) const {
  const auto values = context_.client_metadata().equal_range({key.data(), key.size()});
  return std::any_of(values.first, values.second,
                     [&](const auto& one) { return one.second != values.first->second; });
}

void GrpcCall::StartRead(ByteBuffer* message) {
  message_read_ = message;
  ++pending_;
  if (!std::exchange(first_is_unread_, false)) return thread_.Post(read_);
  *message = std::move(request_);
  thread_.PostLater(notify_first_read_);
}

void GrpcCall::Read() {
  if (!Guard([this] { stream_.Read(&ToGrpc(*message_read_), &read_done_); })) ReadDone(false);
}

void GrpcCall::ReadDone(bool ok) {
  if (ok) Guard([this, &ok] { ok = Accept(*message_read_); });
  Guard([this, ok] { handler_->OnReadDone(ok); });
  Release();
}

bool GrpcCall::Accept(const ByteBuffer& message) {
  const absl::Status status = acceptor_.CheckMessage(message);
  if (status.ok()) return true;
  CountRefusal(status.code());
  // The handler may still write, so the call cannot simply be finished.
  grpc_call_cancel_with_status(context_.c_call(), static_cast<grpc_status_code>(status.code()),
                               std::string(status.message()).c_str(), nullptr);
  return false;
}

void GrpcCall::StartWrite(const ByteBuffer* message) {
  message_written_ = message;
  is_writing_.store(true, std::memory_order_relaxed);
  ++pending_;
  thread_.Post(write_);
}

void GrpcCall::Write() {
  if (!Guard([this] { stream_.Write(ToGrpc(*message_written_), &write_done_); })) WriteDone(false);
}

void GrpcCall::WriteDone(bool ok) {
  is_writing_.store(false, std::memory_order_relaxed);
  Guard([this, ok] { handler_->OnWriteDone(ok); });
  if (ends_behind_write_ && !is_writing_.load(std::memory_order_relaxed)) {
    ends_behind_write_ = false;
    EndBehindWrites();
  }
  Release();
}

void GrpcCall::CountRefusal(absl::StatusCode code) noexcept {
  Try([&] { acceptor_.Refused(code, context_.method(), context_.peer()); });
}

void GrpcCall::Finish(const absl::Status& status) {
  if (!IsFirstFinish()) return;
  if (absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status))
    CountRefusal(status.code());
  if (!status.ok() && !Try([&] { status_ = ToGrpcStatus(status); })) status_ = FailedStatus();
  thread_.Post(end_);
}

void GrpcCall::Finish(ByteBuffer reply) {
  if (!IsFirstFinish()) return;
  reply_ = std::move(reply);
  thread_.Post(end_);
}

void GrpcCall::End() {
  acceptor_.AddAnswer();
  ends_behind_write_ = is_writing_.load(std::memory_order_relaxed);
  if (!ends_behind_write_) EndBehindWrites();
}

void GrpcCall::EndBehindWrites() {
  bool held_back = false;
  Try([&] { held_back = HoldBack(); });
  if (!held_back) EndNow();
}

// Callers without a name are told apart by their addresses, without the port.
size_t GrpcCall::Caller() const {
  if (caller_ != 0) return caller_;
  const std::string peer = context_.peer();
  return std::hash<std::string_view>()(std::string_view(peer).substr(0, peer.rfind(':')));
}

bool GrpcCall::HoldBack() {
  // An incomplete call is refused at once, to free its memory.
  if (status_.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED || !has_arrived_) return false;
  const Duration delay = acceptor_.DelayOfRefusal(deadline(), Caller());
  // A client that has gone takes no answer.
  if (delay == Duration::zero() || cancelled_) return false;
  held_back_.emplace().Set(&thread_.queue(), std::chrono::system_clock::now() + delay,
                           &end_held_back_);
  acceptor_.held_.Add(*this);
  return true;
}

void GrpcCall::EndHeldBack(bool) {
  acceptor_.held_.Remove(*this);
  held_back_.reset();
  EndNow();
}

void GrpcCall::AddCommonTrailer() {
  CommonTrailer::Reader* const trailer = acceptor_.trailer();
  if (trailer == nullptr) return;
  if (const std::string* value = trailer->ValueFor(context_.peer()))
    context_.AddTrailingMetadata(trailer->key(), *value);
}

void GrpcCall::EndNow() {
  // A call for which there is no memory ends without it.
  Try([this] { AddCommonTrailer(); });
  if (!Guard([this] {
        if (reply_) {
          stream_.WriteAndFinish(ToGrpc(*reply_), grpc::WriteOptions(), status_, &ended_);
        } else {
          stream_.Finish(status_, &ended_);
        }
      }))
    Ended(false);
}

void GrpcCall::Ended(bool) {
  acceptor_.RemoveAnswer();
  Release();
}

void GrpcCall::Closed(bool) {
  cancelled_ = context_.IsCancelled();
  if (cancelled_ && held_back_) held_back_->Cancel();
  NotifyCancelled();
  Release();
}

void GrpcCall::NotifyCancelled() {
  // Until the method's function has returned, the handler belongs to its thread.
  if (cancelled_ && has_begun_ && handler_ != nullptr) Guard([this] { handler_->OnCancel(); });
}

void GrpcCall::Release() {
  if (--pending_ != 0) return;
  if (handler_ != nullptr) Try([this] { handler_->OnDone(); });
  CallAcceptor& acceptor = acceptor_;
  DeleteThis();
  acceptor.AwaitOwedCalls();
}

}  // namespace millrace::server
