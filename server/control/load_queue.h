#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/control/main_loop.h"

namespace millrace::server {

// Who waits for a model to be loaded. The main thread loads one model at a time; callers that want
// a model whose load has not begun wait for the same one, and a load that nobody waits for any more
// is not run. Thread-safe.
class LoadQueue {
 public:
  // Told once, on any thread, under no lock: what came of the load, or CANCELLED, or UNAVAILABLE
  // once the main loop takes no more tasks.
  using Done = std::function<void(const absl::Status&)>;
  using Load = std::function<absl::Status(std::string_view model)>;
  using Ticket = uint64_t;

  // Callers that may wait, over all models, beside those whose load runs.
  static constexpr size_t kMaxWaiting = 32;

  // load: on the main thread. The main loop must outlive this and be closed before it goes.
  LoadQueue(MainLoop& main_loop, Load load) : main_loop_(main_loop), load_(std::move(load)) {}
  LoadQueue(const LoadQueue&) = delete;
  LoadQueue& operator=(const LoadQueue&) = delete;

  // RESOURCE_EXHAUSTED when too many wait; then `done` is not called.
  absl::StatusOr<Ticket> Add(std::string model, Done done) MILLRACE_EXCLUDES(mu_);
  // The caller has left: it is told CANCELLED when its load has not begun, else nothing changes.
  void Cancel(Ticket ticket) MILLRACE_EXCLUDES(mu_);

 private:
  struct Waiter {
    Ticket ticket = 0;
    Done done;
  };
  struct Entry {
    std::string model;
    std::vector<Waiter> waiters;  // one at least
  };
  class Turn;

  void PostTurn();
  void RunNext() MILLRACE_EXCLUDES(mu_);
  void EndAll() MILLRACE_EXCLUDES(mu_);

  MainLoop& main_loop_;
  const Load load_;

  Mutex mu_;
  std::deque<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // no model twice
  size_t waiting_ MILLRACE_GUARDED_BY(mu_) = 0;         // callers in all entries
  bool turn_posted_ MILLRACE_GUARDED_BY(mu_) = false;
  Ticket last_ticket_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
