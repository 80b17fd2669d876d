#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/control/main_loop.h"

namespace millrace::server {

// The callers that wait for a model to be loaded. The main thread loads one model at a time.
// Callers that want a model whose load has not begun share that load, and a load is dropped when
// all its callers have left. Thread-safe.
class LoadQueue {
 public:
  // Called once, on any thread and without a lock, with the outcome of the load, or CANCELLED, or
  // UNAVAILABLE once the main loop takes no more tasks.
  using Done = std::function<void(const absl::Status&)>;
  using Load = std::function<absl::Status(std::string_view model)>;
  using Ticket = uint64_t;

  // The most callers that may wait, over all models, beside those whose load runs.
  static constexpr size_t kMaxWaiting = 32;

  // `load` runs on the main thread, `on_too_many` on that of a caller that is refused. The main
  // loop must outlive this and be closed before this is destroyed.
  LoadQueue(
      MainLoop& main_loop, Load load, std::function<void()> on_too_many = [] {})
      : main_loop_(main_loop), load_(std::move(load)), on_too_many_(std::move(on_too_many)) {}
  LoadQueue(const LoadQueue&) = delete;
  LoadQueue& operator=(const LoadQueue&) = delete;

  // Fails with RESOURCE_EXHAUSTED when too many callers wait; then `done` is not called.
  absl::StatusOr<Ticket> Add(std::string model, Done done) MILLRACE_EXCLUDES(mu_);
  // Declares that the caller has left: it gets CANCELLED when its load has not begun; otherwise
  // nothing changes.
  void Cancel(Ticket ticket) MILLRACE_EXCLUDES(mu_);

 private:
  struct Waiter {
    Ticket ticket = 0;
    Done done;
  };
  struct Entry {
    std::string model;
    std::vector<Waiter> waiters;  // at least one
  };
  class Turn;

  void PostTurn();
  void RunNext() MILLRACE_EXCLUDES(mu_);
  void EndAll() MILLRACE_EXCLUDES(mu_);

  MainLoop& main_loop_;
  const Load load_;
  const std::function<void()> on_too_many_;

  Mutex mu_;
  std::deque<Entry> entries_ MILLRACE_GUARDED_BY(mu_);  // at most one entry for a model
  size_t waiting_ MILLRACE_GUARDED_BY(mu_) = 0;         // callers in all entries
  bool turn_posted_ MILLRACE_GUARDED_BY(mu_) = false;
  Ticket last_ticket_ MILLRACE_GUARDED_BY(mu_) = 0;
};

}  // namespace millrace::server
