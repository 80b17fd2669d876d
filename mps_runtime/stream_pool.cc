#include "mps_runtime/stream_pool.h"

#include <string>

#include "mps_runtime/base/check.h"
#include "mps_runtime/errors.h"

namespace millrace::runtime {
StreamPool::Lease::Lease(Lease&& other) noexcept : pool_(other.pool_), slot_(other.slot_) {
  other.pool_ = nullptr;
}

StreamPool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->Return(slot_);
}

Stream StreamPool::Lease::stream() const {
  if (pool_ == nullptr) throw StreamError("the lease has been moved from");
  if (!pool_->OwnedByThisThread(slot_)) {
    throw StreamError("stream " + std::to_string(slot_) + " belongs to another thread");
  }
  return {pool_->device_, slot_};
}

StreamPool::StreamPool(DeviceType device, int workers)
    : device_(device),
      workers_(workers),
      main_thread_(std::this_thread::get_id()),
      free_count_(workers) {
  for (int i = 0; i < workers; ++i) free_[i] = workers - i;  // slot 1 on top
  owners_[kDefaultSlot] = main_thread_;
}

StreamPool::~StreamPool() {
  const int leased = stats().leased;
  MILLRACE_CHECK(leased == 0,
                 "stream pool destroyed while " + std::to_string(leased) + " streams are leased");
}

Stream StreamPool::MainStream() const {
  if (!OnMainThread()) {
    throw StreamError("stream 0 is for the main thread only: worker threads lease one of 1..31");
  }
  return {device_, kDefaultSlot};
}

StreamPool::Lease StreamPool::LeaseStream() {
  const std::thread::id self = std::this_thread::get_id();
  if (self == main_thread_) {
    throw StreamError("the main thread cannot lease a stream: it has stream 0");
  }
  MutexLock lock(mu_);
  for (const std::thread::id owner : owners_) {
    if (owner == self) throw StreamError("this thread has leased a stream already");
  }
  if (free_count_ == 0) {
    ++stats_.refusals_total;
    throw StreamPoolExhausted("all " + std::to_string(workers_) +
                              " worker streams are leased; run fewer workers");
  }
  const int slot = free_[--free_count_];
  owners_[slot] = self;
  ++stats_.leased;
  ++stats_.leases_total;
  return Lease(this, slot);
}

StreamPool::Stats StreamPool::stats() const {
  MutexLock lock(mu_);
  return stats_;
}

void StreamPool::Return(int slot) {
  MutexLock lock(mu_);
  MILLRACE_CHECK(owners_[slot] == std::this_thread::get_id(),
                 "stream " + std::to_string(slot) +
                     " was returned on another thread than the one that leased it");
  owners_[slot] = std::thread::id();
  free_[free_count_++] = slot;
  --stats_.leased;
}

bool StreamPool::OwnedByThisThread(int slot) const {
  MutexLock lock(mu_);
  return owners_[slot] == std::this_thread::get_id();
}

}  // namespace millrace::runtime
