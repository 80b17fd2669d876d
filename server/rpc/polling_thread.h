#pragma once

#include <grpcpp/alarm.h>
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/mutex.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/mailbox.h"

namespace millrace::server {

// The tag of a gRPC operation, whose completion it receives.
class Event {
 public:
  // Runs on the polling thread. ok: gRPC's result of the operation.
  virtual void OnComplete(bool ok) = 0;

 protected:
  ~Event() = default;
};

// The only thread of a completion queue. It delivers the events of the calls on its queue and
// starts their operations, which read and write sockets. Operations of other threads arrive by
// mail, many with one wake-up, so that threads never contend for a connection. gRPC's own callback
// threads, at least two, hand every event to each other, which costs a third more.
class PollingThread {
 public:
  // background: runs work that would hold up the other calls; must outlive this object.
  PollingThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, BackgroundThread& background)
      : queue_(std::move(queue)), background_(background) {}
  PollingThread(const PollingThread&) = delete;
  PollingThread& operator=(const PollingThread&) = delete;
  ~PollingThread() { Stop(); }

  void Start();
  // Waits until no call is left. The server must have been shut down. Idempotent.
  void Stop() MILLRACE_EXCLUDES(waking_);

  // Delivers the mail on the polling thread: before returning if called there, else soon. Any
  // thread; not after the last call has ended.
  void Post(Mail& mail) MILLRACE_EXCLUDES(waking_);
  // Does the same, but never before it returns.
  void PostLater(Mail& mail) MILLRACE_EXCLUDES(waking_);
  grpc::ServerCompletionQueue& queue() { return *queue_; }
  BackgroundThread& background() { return background_; }

  // Until then, looks for events in intervals of kInterval. Each look interrupts a worker where
  // cores are scarce, so many small events cost less when they are handled together. On the polling
  // thread.
  void ModerateUntil(TimePoint end) {
    moderated_until_ = end;
    is_moderated_ = true;
  }
  static constexpr Duration kInterval = std::chrono::milliseconds(2);

  // Count the calls on this queue, including those awaited. On the polling thread, or before Start.
  void AddCall() { ++calls_; }
  void RemoveCall() { --calls_; }

 private:
  class MailArrived final : public Event {
   public:
    explicit MailArrived(Mailbox& mailbox) : mailbox_(mailbox) {}
    void OnComplete(bool) override { mailbox_.DeliverAll(); }

   private:
    Mailbox& mailbox_;
  };
  class StopOrder final : public Mail {
   public:
    explicit StopOrder(bool& stopping) : stopping_(stopping) {}
    void Deliver() override { stopping_ = true; }

   private:
    bool& stopping_;
  };

  void Run();
  // Waits for the next event. Returns false when the queue has shut down.
  bool Next(void** tag, bool* ok);

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  BackgroundThread& background_;
  Mailbox mailbox_;
  MailArrived mail_arrived_{mailbox_};
  // The alarm is set when the mailbox was empty, so never twice at a time. But it may fire, and be
  // set again or destroyed, while the previous Set has not yet returned.
  Mutex waking_;
  grpc::Alarm alarm_ MILLRACE_GUARDED_BY(waking_);
  // Used by the polling thread only.
  TimePoint moderated_until_;
  bool is_moderated_ = false;
  int calls_ = 0;
  bool stopping_ = false;
  StopOrder stop_order_{stopping_};
  std::thread thread_;
};

}  // namespace millrace::server
