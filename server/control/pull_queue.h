#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mps_runtime/base/mutex.h"
#include "server/control/pull_models.h"
#include "server/requests/pull_action.h"

namespace millrace::server {

// The callers that wait for a model to be fetched and loaded. A thread of its own fetches one after
// the other; one that was fetched is loaded. Thread-safe.
class PullQueue {
 public:
  // Called once, on any thread and without a lock, with the outcome.
  using Done = std::function<void(const absl::Status&)>;
  using Pull = std::function<absl::Status(const PullRequest&, const std::function<bool()>& stop,
                                          const PullListener& listener)>;
  // Begins to load the model.
  using Load = std::function<void(std::string model, Done done)>;
  using Ticket = uint64_t;

  // The most callers that may wait, beside the one whose model is fetched.
  static constexpr size_t kMaxWaiting = 8;

  PullQueue(Pull pull, Load load) : pull_(std::move(pull)), load_(std::move(load)) {}
  // The callers that are left get UNAVAILABLE.
  ~PullQueue() { Stop(); }
  PullQueue(const PullQueue&) = delete;
  PullQueue& operator=(const PullQueue&) = delete;

  // request: of one name, with the name of its model. Fails with RESOURCE_EXHAUSTED when too many
  // callers wait, and with UNAVAILABLE once stopped; then `done` is not called.
  absl::StatusOr<Ticket> Add(PullRequest request, Done done) MILLRACE_EXCLUDES(mu_);
  // Declares that the caller has left: its model is no longer fetched.
  void Cancel(Ticket ticket) MILLRACE_EXCLUDES(mu_);
  // Returns what is fetched now and what waits, in this order.
  std::vector<PullView> Pulls() const MILLRACE_EXCLUDES(mu_);
  // Interrupts the fetching and takes no more callers.
  void Stop() MILLRACE_EXCLUDES(mu_);

 private:
  struct Entry {
    Ticket ticket = 0;
    PullRequest request;
    Done done;
  };

  void Run() MILLRACE_EXCLUDES(mu_);
  // Returns true if the entry that is fetched now is to be left.
  bool IsLeft() MILLRACE_EXCLUDES(mu_);

  const Pull pull_;
  const Load load_;

  mutable Mutex mu_;
  CondVar changed_;
  std::deque<Entry> entries_ MILLRACE_GUARDED_BY(mu_);
  Ticket last_ticket_ MILLRACE_GUARDED_BY(mu_) = 0;
  Ticket running_ MILLRACE_GUARDED_BY(mu_) = 0;  // 0: none
  bool running_left_ MILLRACE_GUARDED_BY(mu_) = false;
  PullView running_view_ MILLRACE_GUARDED_BY(mu_);  // while there is one
  bool stopped_ MILLRACE_GUARDED_BY(mu_) = false;
  std::thread thread_ MILLRACE_GUARDED_BY(mu_);  // started by the first caller
};

}  // namespace millrace::server
