#include "server/executors/convicted_requests.h"

#include <utility>

namespace millrace::server {

void ConvictedRequests::DropOld(TimePoint now) {
  while (!entries_.empty() && (entries_.front().until <= now || entries_.size() > kMost)) {
    places_.erase(entries_.front().fingerprint);
    entries_.pop_front();
  }
  count_.store(entries_.size(), std::memory_order_relaxed);
}

void ConvictedRequests::Convict(size_t fingerprint, std::string_view model, std::string_view crash,
                                TimePoint now) {
  Entry entry{.fingerprint = fingerprint,
              .model = std::string(model),
              .crash = std::string(crash),
              .until = now + kTime};
  const MutexLock lock(mu_);
  if (const auto found = places_.find(fingerprint); found != places_.end())
    entries_.erase(found->second);
  places_[fingerprint] = entries_.insert(entries_.end(), std::move(entry));
  DropOld(now);
}

std::optional<std::string> ConvictedRequests::Refuse(size_t fingerprint, TimePoint now) {
  const MutexLock lock(mu_);
  DropOld(now);
  const auto found = places_.find(fingerprint);
  if (found == places_.end()) return std::nullopt;
  ++found->second->refused;
  return found->second->crash;
}

std::vector<ConvictedRequests::View> ConvictedRequests::List(TimePoint now) {
  std::vector<View> views;
  const MutexLock lock(mu_);
  DropOld(now);
  views.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    views.push_back({.crash = entry.crash,
                     .model = entry.model,
                     .left = entry.until - now,
                     .refused = entry.refused});
  }
  return views;
}

size_t ConvictedRequests::Clear(std::string_view crash, TimePoint now) {
  size_t cleared = 0;
  const MutexLock lock(mu_);
  DropOld(now);
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (!crash.empty() && entry->crash != crash) {
      ++entry;
      continue;
    }
    places_.erase(entry->fingerprint);
    entry = entries_.erase(entry);
    ++cleared;
  }
  count_.store(entries_.size(), std::memory_order_relaxed);
  return cleared;
}

}  // namespace millrace::server
