#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace millrace::logging {

// Writes lines to a descriptor on a thread of its own, so that a reader who is slow, or who has
// stopped, holds up nobody else: neither those who log nor the end of the process. Thread-safe.
class LineWriter {
 public:
  struct Options {
    int descriptor = 2;          // borrowed; blocking or not
    size_t max_lines = 8192;     // that wait
    size_t max_bytes = 8 << 20;  // of those lines
    // Makes the line that tells how many were lost, when some were. On the writing thread.
    std::function<std::string(uint64_t lost)> tell_lost = nullptr;
  };

  explicit LineWriter(Options options);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter();  // as Close, without patience

  // Takes a line with its end; waits for nobody. The oldest go where too many wait, and are
  // counted.
  void Write(std::string line);
  // Takes no more lines and waits until those that it has are written: no longer than `patience`
  // without progress, and five times that in all. A thread that still hangs in a write by then is
  // left to the end of the process. Idempotent.
  void Close(std::chrono::milliseconds patience);

 private:
  struct State;

  static void Run(State& state);

  const std::shared_ptr<State> state_;  // shared: a thread that is left behind still uses it
  std::thread thread_;
};

}  // namespace millrace::logging
