#include "server/control/pull_queue.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

PullView ViewOf(const PullRequest& request, bool waiting) {
  return {.model = request.as, .published = request.names.front(), .waiting = waiting};
}

}  // namespace

absl::StatusOr<PullQueue::Ticket> PullQueue::Add(PullRequest request, Done done) {
  MutexLock lock(mu_);
  if (stopped_) return Unavailable("the server is shutting down");
  if (entries_.size() >= kMaxWaiting) {
    return Refused(
        Refusal::kTooMany,
        StrCat("pull: ", kMaxWaiting,
               " calls wait for models to be fetched, which is the limit; try again later"),
        std::chrono::seconds(1));
  }
  entries_.push_back({++last_ticket_, std::move(request), std::move(done)});
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
  changed_.NotifyAll();
  return last_ticket_;
}

void PullQueue::Cancel(Ticket ticket) {
  Done done;
  {
    MutexLock lock(mu_);
    if (ticket == running_) running_left_ = true;
    const auto entry = std::find_if(entries_.begin(), entries_.end(),
                                    [ticket](const Entry& e) { return e.ticket == ticket; });
    if (entry == entries_.end()) return;
    done = std::move(entry->done);
    entries_.erase(entry);
  }
  done(absl::CancelledError("the caller went away"));
}

void PullQueue::Stop() {
  std::deque<Entry> entries;
  std::thread thread;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    entries.swap(entries_);
    thread.swap(thread_);
    changed_.NotifyAll();
  }
  for (const Entry& entry : entries) entry.done(Unavailable("the server is shutting down"));
  if (thread.joinable()) thread.join();
}

std::vector<PullView> PullQueue::Pulls() const {
  std::vector<PullView> views;
  MutexLock lock(mu_);
  if (running_ != 0) views.push_back(running_view_);
  for (const Entry& entry : entries_) views.push_back(ViewOf(entry.request, /*waiting=*/true));
  return views;
}

bool PullQueue::IsLeft() {
  MutexLock lock(mu_);
  return running_left_ || stopped_;
}

void PullQueue::Run() {
  while (true) {
    Entry entry;
    {
      MutexLock lock(mu_);
      while (entries_.empty() && !stopped_) changed_.Wait(mu_);
      if (stopped_) return;
      entry = std::move(entries_.front());
      entries_.pop_front();
      running_ = entry.ticket;
      running_left_ = false;
      running_view_ = ViewOf(entry.request, /*waiting=*/false);
    }
    const absl::Status status = pull_(
        entry.request, [this] { return IsLeft(); },
        [this](const PullProgress& progress) {
          MutexLock lock(mu_);
          running_view_.progress = progress;
        });
    {
      MutexLock lock(mu_);
      running_ = 0;
    }
    if (status.ok()) {
      load_(std::move(entry.request.as), std::move(entry.done));
    } else {
      entry.done(status);
    }
  }
}

}  // namespace millrace::server
