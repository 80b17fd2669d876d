#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace millrace {

// While it lives, the first SIGINT, SIGTERM or SIGHUP calls a function instead of ending the
// process, so that what has come is kept; the second one ends it. Make it before the threads that
// must not take the signals, as those of a gRPC channel.
class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption() { Stop(); }

  // Has this called on another thread at the first signal, which may have come. Called once.
  void OnSignal(std::function<void()> stop);
  // Ends this: signals have their usual effect again, and the function is not called any more.
  // Idempotent.
  void Stop();
  // The signal that came; 0: none.
  int signal() const { return signal_.load(); }

 private:
  void Wait();

  std::function<void()> stop_;
  std::atomic<int> signal_{0};
  std::thread thread_;
};

}  // namespace millrace
