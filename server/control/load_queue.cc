#include "server/control/load_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {

// The task that is posted to the main loop, one at a time. If the loop destroys it without running
// it, no load will run any more.
class LoadQueue::Turn {
 public:
  explicit Turn(LoadQueue& queue) : queue_(&queue) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (queue_ != nullptr) queue_->EndAll();
  }
  void Run() { std::exchange(queue_, nullptr)->RunNext(); }

 private:
  LoadQueue* queue_;
};

absl::StatusOr<LoadQueue::Ticket> LoadQueue::Add(std::string model, Done done) {
  Ticket ticket = 0;
  bool post = false;
  {
    MutexLock lock(mu_);
    if (waiting_ >= kMaxWaiting) {
      on_too_many_();
      return Refused(
          Refusal::kTooMany,
          StrCat("model: ", kMaxWaiting, " calls wait for models to be loaded, which is the limit"),
          std::chrono::seconds(1));
    }
    auto entry = std::find_if(entries_.begin(), entries_.end(),
                              [&model](const Entry& e) { return e.model == model; });
    if (entry == entries_.end())
      entry = entries_.insert(entry, Entry{.model = std::move(model), .waiters = {}});
    ticket = ++last_ticket_;
    entry->waiters.push_back({ticket, std::move(done)});
    ++waiting_;
    post = !std::exchange(turn_posted_, true);
  }
  if (post) PostTurn();
  return ticket;
}

void LoadQueue::PostTurn() {
  // shared, because std::function requires a copyable callable
  main_loop_.Post([turn = std::make_shared<Turn>(*this)] { turn->Run(); });
}

void LoadQueue::Cancel(Ticket ticket) {
  Done done;
  {
    MutexLock lock(mu_);
    for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
      const auto waiter = std::find_if(entry->waiters.begin(), entry->waiters.end(),
                                       [ticket](const Waiter& w) { return w.ticket == ticket; });
      if (waiter == entry->waiters.end()) continue;
      done = std::move(waiter->done);
      entry->waiters.erase(waiter);
      --waiting_;
      if (entry->waiters.empty()) entries_.erase(entry);
      break;
    }
  }
  if (done != nullptr) done(absl::CancelledError("the caller went away"));
}

void LoadQueue::RunNext() {
  Entry entry;
  {
    MutexLock lock(mu_);
    if (entries_.empty()) {  // all callers have left
      turn_posted_ = false;
      return;
    }
    entry = std::move(entries_.front());
    entries_.pop_front();
    waiting_ -= entry.waiters.size();
  }
  const absl::Status status = load_(entry.model);
  for (const Waiter& waiter : entry.waiters) waiter.done(status);
  {
    MutexLock lock(mu_);
    turn_posted_ = !entries_.empty();
    if (!turn_posted_) return;
  }
  PostTurn();
}

void LoadQueue::EndAll() {
  std::deque<Entry> entries;
  {
    MutexLock lock(mu_);
    entries.swap(entries_);
    waiting_ = 0;
    turn_posted_ = false;
  }
  for (const Entry& entry : entries) {
    for (const Waiter& waiter : entry.waiters)
      waiter.done(Unavailable("the server is shutting down"));
  }
}

}  // namespace millrace::server
