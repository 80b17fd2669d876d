#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {

// Trailing metadata whose value changes a few times a second, such as a report of the server's
// load. Every connection gets each value once, with the first call that ends after the change: the
// calls that follow would only repeat it, and a trailer takes a microsecond. Thread-safe.
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

  // The value as one thread reads it for its calls: without a lock, unless the value has changed.
  // Each thread has its own, and its own account of what a connection has. The trailer must outlive
  // it.
  class Reader {
   public:
    explicit Reader(const CommonTrailer& trailer) : trailer_(trailer) {}

    const std::string& key() const { return trailer_.key_; }
    // Returns the value for a call of this connection; null if the connection has it, or there is
    // none. It is valid until the next call. peer: the client's address and port.
    const std::string* ValueFor(std::string_view peer) {
      if (trailer_.version_.load(std::memory_order_acquire) != version_) Renew();
      if (value_.empty()) return nullptr;
      const size_t hash = std::hash<std::string_view>()(peer);
      Told& told = told_[hash % told_.size()];
      if (told.connection == hash && told.version == version_) return nullptr;
      told = {hash, version_};
      return &value_;
    }

   private:
    // Two connections in one place of the table get the value more often.
    struct Told {
      size_t connection = 0;
      uint64_t version = 0;
    };

    void Renew() {
      MutexLock lock(trailer_.mu_);
      value_ = trailer_.value_;
      version_ = trailer_.version_.load(std::memory_order_relaxed);
    }

    const CommonTrailer& trailer_;
    uint64_t version_ = 0;
    std::string value_;
    std::array<Told, 1024> told_{};
  };

 private:
  const std::string key_;
  std::atomic<uint64_t> version_{0};
  mutable Mutex mu_;
  std::string value_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
