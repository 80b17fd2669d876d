#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace millrace::models {

// A running espeak-ng, which turns lines of text into lines of IPA. It is GPL, so it runs as a
// separate program and is never linked; it reads from a socket, so no text becomes an argument. One
// thread at a time. Starting takes about 10 ms, a sentence 1 ms.
class EspeakProcess {
 public:
  struct Options {
    std::filesystem::path program;  // absolute
    std::string voice;              // such as "en-us"
    std::string tie = {};           // written between the letters of one sound; empty: nothing
  };

  static absl::StatusOr<std::unique_ptr<EspeakProcess>> Start(const Options& options);
  EspeakProcess(const EspeakProcess&) = delete;
  EspeakProcess& operator=(const EspeakProcess&) = delete;
  // Kills the process and waits for it.
  ~EspeakProcess();

  // Returns espeak-ng's output for each line, with its line breaks. A line is UTF-8 without control
  // characters and at most 900 bytes long. After an error the process must not be used any more:
  // Aborted when it died, Unavailable when it was too slow or its output was invalid.
  absl::StatusOr<std::vector<std::string>> Translate(std::span<const std::string> lines,
                                                     std::chrono::milliseconds timeout);
  // Returns false once it has ended by itself.
  bool Running();

  pid_t pid() const { return pid_; }

 private:
  using Deadline = std::chrono::steady_clock::time_point;

  EspeakProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  absl::Status Exchange(std::string_view input, std::string_view mark, size_t marks,
                        Deadline deadline, std::string& output);

  pid_t pid_;  // 0 once it was reaped
  const int socket_;
};

}  // namespace millrace::models
