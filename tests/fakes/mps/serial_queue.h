#pragma once

#include <dispatch/dispatch.h>

#include <atomic>
#include <mutex>
#include <thread>

// A serial dispatch queue: one piece of work at a time, run on the thread that asks for it.
struct dispatch_queue_s {
  std::mutex mu;
  std::atomic<std::thread::id> owner{};

  bool IsHeldHere() const { return owner.load() == std::this_thread::get_id(); }
};
