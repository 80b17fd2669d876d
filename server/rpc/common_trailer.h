#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Trailing metadata that every call gets, whose value changes a few times a second, such as a
// report of the server's load. Thread-safe.
class CommonTrailer {
 public:
  explicit CommonTrailer(std::string key) : key_(std::move(key)) {}
  CommonTrailer(const CommonTrailer&) = delete;
  CommonTrailer& operator=(const CommonTrailer&) = delete;

  const std::string& key() const { return key_; }

  // Sets the value that calls get from now on. An empty one means that they get none.
  void Publish(std::string value) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    value_ = std::move(value);
    version_.fetch_add(1, std::memory_order_release);
  }

  // The value as one thread reads it for each call: without a lock, unless the value has changed.
  // The trailer must outlive it.
  class Reader {
   public:
    explicit Reader(const CommonTrailer& trailer) : trailer_(trailer) {}

    const std::string& key() const { return trailer_.key_; }
    const std::string& Value() {
      if (trailer_.version_.load(std::memory_order_acquire) != version_) Renew();
      return value_;
    }

   private:
    void Renew() {
      MutexLock lock(trailer_.mu_);
      value_ = trailer_.value_;
      version_ = trailer_.version_.load(std::memory_order_relaxed);
    }

    const CommonTrailer& trailer_;
    uint64_t version_ = 0;
    std::string value_;
  };

 private:
  const std::string key_;
  std::atomic<uint64_t> version_{0};
  mutable Mutex mu_;
  std::string value_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
