#pragma once

#include <array>
#include <cstdint>
#include <thread>

#include "mps_runtime/base/mutex.h"
#include "mps_runtime/stream.h"

namespace millrace::runtime {

// Hands out the 32 streams of a device: slot 0 to the main thread alone, slots 1..31 to worker
// threads, at most one each. It records who owns a stream; the backend binds the stream to its
// thread. Freed slots are reused most recent first, because device memory freed on a stream is only
// reused by that stream. Thread-safe. A lease and its return take one short lock each.
class StreamPool {
 public:
  struct Stats {
    int leased = 0;               // now, slot 0 not counted
    uint64_t leases_total = 0;    // granted since the start
    uint64_t refusals_total = 0;  // refused because all slots were taken
  };

  // A worker slot, held by the thread that leased it and returned by the destructor, also while an
  // exception unwinds. The destructor must run on that same thread. On another one it ends the
  // process with a message, because the first thread could still use the stream when it is leased
  // to a third one. It must not outlive the pool.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();

    // Throws StreamError on any thread other than the one that leased it.
    Stream stream() const;

   private:
    friend class StreamPool;
    Lease(StreamPool* pool, int slot) : pool_(pool), slot_(slot) {}

    StreamPool* pool_;  // null after a move
    int slot_;
  };

  // The calling thread becomes the pool's main thread. `workers` slots may be leased, 1..31.
  explicit StreamPool(DeviceType device, int workers = kWorkerSlots);
  StreamPool(const StreamPool&) = delete;
  StreamPool& operator=(const StreamPool&) = delete;
  // Every lease must have been returned.
  ~StreamPool();

  // Returns slot 0. Throws StreamError on any other thread than the main one.
  Stream MainStream() const;
  bool OnMainThread() const { return std::this_thread::get_id() == main_thread_; }
  // Returns a free worker slot. Never blocks: throws StreamPoolExhausted when all are taken,
  // StreamError on the main thread and on a thread that already holds a lease.
  Lease LeaseStream();

  Stats stats() const;

 private:
  void Return(int slot) MILLRACE_EXCLUDES(mu_);
  bool OwnedByThisThread(int slot) const MILLRACE_EXCLUDES(mu_);

  const DeviceType device_;
  const int workers_;
  const std::thread::id main_thread_;

  mutable Mutex mu_;
  std::array<std::thread::id, kStreamSlots> owners_
      MILLRACE_GUARDED_BY(mu_);                                  // the default id: free
  std::array<int, kWorkerSlots> free_ MILLRACE_GUARDED_BY(mu_);  // a stack of slots
  int free_count_ MILLRACE_GUARDED_BY(mu_);
  Stats stats_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::runtime
