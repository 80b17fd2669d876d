#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace millrace {

// A line on standard error that says how far long work has come, if that is a terminal. Not
// thread-safe.
class Progress {
 public:
  explicit Progress(bool enabled = isatty(STDERR_FILENO) == 1) : enabled_(enabled) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  // Shows the line if the work is long, and not too often.
  void Show(const std::string& line) {
    const auto now = std::chrono::steady_clock::now();
    if (!enabled_ || now < next_) return;
    next_ = now + std::chrono::milliseconds(200);
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%s", line.c_str());
    std::fflush(stderr);
  }
  // Takes the line away.
  void Clear() {
    if (shown_) std::fputs("\r\033[K", stderr);
    shown_ = false;
  }

 private:
  const bool enabled_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(2);
};

}  // namespace millrace
