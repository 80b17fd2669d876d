#pragma once

#include <memory>
#include <thread>
#include <utility>

#include "grpcpp/alarm.h"
#include "grpcpp/completion_queue.h"
#include "mps_runtime/base/mutex.h"
#include "server/rpc/background_thread.h"
#include "server/rpc/mailbox.h"

namespace millrace::server {

// What gRPC completes: the tag of an operation.
class Event {
 public:
  // On the polling thread. ok: what gRPC says of the operation.
  virtual void Happen(bool ok) = 0;

 protected:
  ~Event() = default;
};

// The one thread of a completion queue. It tells of the calls on its queue and starts their
// operations, which is where sockets are read and written, also those that other threads ask for:
// they arrive by mail, many with one wake-up, so that threads never contend for a connection.
// gRPC's own callback threads, two at least, hand every event from one to the other, which costs a
// third more.
class PollingThread {
 public:
  // background: for what would hold up the other calls; must outlive it.
  PollingThread(std::unique_ptr<grpc::ServerCompletionQueue> queue, BackgroundThread& background)
      : queue_(std::move(queue)), background_(background) {}
  PollingThread(const PollingThread&) = delete;
  PollingThread& operator=(const PollingThread&) = delete;
  ~PollingThread() { Stop(); }

  void Start();
  // Waits until no call is left, which takes that the server has been shut down. Idempotent.
  void Stop() MILLRACE_EXCLUDES(waking_);

  // Delivers on the polling thread: at once when this is it, else soon. Any thread; not once the
  // last call has ended.
  void Post(Mail& mail) MILLRACE_EXCLUDES(waking_);
  // The same, never before it returns.
  void PostLater(Mail& mail) MILLRACE_EXCLUDES(waking_);
  grpc::ServerCompletionQueue& queue() { return *queue_; }
  BackgroundThread& background() { return background_; }

  // The calls on this queue, those still to come included. On the polling thread, or before Start.
  void AddCall() { ++calls_; }
  void RemoveCall() { --calls_; }

 private:
  class MailCame final : public Event {
   public:
    explicit MailCame(Mailbox& mailbox) : mailbox_(mailbox) {}
    void Happen(bool) override { mailbox_.DeliverAll(); }

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

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  BackgroundThread& background_;
  Mailbox mailbox_;
  MailCame mail_came_{mailbox_};
  // Set when the mailbox was empty, and so never twice at a time. But it may be delivered, and be
  // set anew or destroyed, while the Set before is still about to return.
  Mutex waking_;
  grpc::Alarm alarm_ MILLRACE_GUARDED_BY(waking_);
  // The polling thread's.
  int calls_ = 0;
  bool stopping_ = false;
  StopOrder stop_order_{stopping_};
  std::thread thread_;
};

}  // namespace millrace::server
