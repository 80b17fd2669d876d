#include "server/rpc/polling_thread.h"

#include <pthread.h>

#include <chrono>
#include <exception>
#include <utility>

#include "server/logging/logging.h"

namespace millrace::server {
namespace {

thread_local const PollingThread* this_polling_thread = nullptr;

}  // namespace

void PollingThread::Start() {
  thread_ = std::thread([this] { Run(); });
}

void PollingThread::Stop() {
  if (!thread_.joinable()) return;
  Post(stop_order_);
  thread_.join();
  MutexLock lock(waking_);  // the sender of the last mail may still hold the alarm
}

void PollingThread::Post(Mail& mail) {
  if (this_polling_thread == this) return mail.Deliver();
  PostLater(mail);
}

void PollingThread::PostLater(Mail& mail) {
  if (!mailbox_.Post(mail)) return;
  MutexLock lock(waking_);
  alarm_.Set(queue_.get(), std::chrono::system_clock::time_point(), &mail_arrived_);
}

void PollingThread::Run() {
  this_polling_thread = this;
#ifdef __APPLE__
  pthread_setname_np("millrace-grpc");
#else
  pthread_setname_np(pthread_self(), "millrace-grpc");
#endif
  void* tag = nullptr;
  bool ok = false;
  bool shut_down = false;
  while (Next(&tag, &ok)) {
    // The events of a call catch what costs the call. What else throws must not cost the others.
    try {
      static_cast<Event*>(tag)->OnComplete(ok);
    } catch (const std::exception& error) {
      logging::Error("an event of a call failed", {{"reason", error.what()}});
    }
    // gRPC forbids operations on a queue that is shut down, and every call still needs one.
    if (stopping_ && calls_ == 0 && !std::exchange(shut_down, true)) queue_->Shutdown();
  }
}

bool PollingThread::Next(void** tag, bool* ok) {
  using Queue = grpc::CompletionQueue;
  while (is_moderated_) {
    const Queue::NextStatus status =
        queue_->AsyncNext(tag, ok, std::chrono::system_clock::time_point());
    if (status != Queue::TIMEOUT) return status == Queue::GOT_EVENT;
    is_moderated_ = std::chrono::steady_clock::now() < moderated_until_;
    if (is_moderated_) std::this_thread::sleep_for(kInterval);
  }
  return queue_->Next(tag, ok);
}

}  // namespace millrace::server
