#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>

namespace millrace::logging {

// Writes lines to a descriptor on a thread of its own, so that a slow or stopped reader delays
// neither the threads that log nor the end of the process. Thread-safe.
class LineWriter {
 public:
  struct Options {
    int descriptor = 2;          // borrowed; blocking or not
    size_t max_lines = 8192;     // lines that may wait
    size_t max_bytes = 8 << 20;  // bytes of the lines that may wait
    // Makes the line that reports how many lines were lost. Called on the writing thread.
    std::function<std::string(uint64_t lost)> describe_lost = nullptr;
  };

  explicit LineWriter(Options options);
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  ~LineWriter();  // like Close without waiting

  // Takes a line with its line break; never waits. When too many lines wait, the oldest are dropped
  // and counted.
  void Write(std::string line);
  // Takes no more lines and waits until the present ones are written: at most `patience` without
  // progress, and five times that in all. A thread that still hangs in a write by then is left
  // behind until the process ends. Idempotent.
  void Close(std::chrono::milliseconds patience);

 private:
  struct State;

  static void Run(State& state);

  const std::shared_ptr<State> state_;  // shared: a thread that is left behind still uses it
  std::thread thread_;
};

}  // namespace millrace::logging
