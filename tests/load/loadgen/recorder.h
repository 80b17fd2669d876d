#pragma once

#include <grpcpp/support/status.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "mps_runtime/base/mutex.h"
#include "tests/load/loadgen/histogram.h"

namespace millrace::loadgen {

using SteadyTime = std::chrono::steady_clock::time_point;

inline constexpr size_t kStatusCodes = 17;  // gRPC's, 0..16

// When a call was due, when it was really sent, and when it was answered.
struct CallTimes {
  SteadyTime intended;
  SteadyTime sent;
  SteadyTime done;
};

// The impression that a client would have of one audio stream.
struct Playback {
  std::chrono::nanoseconds first_audio{0};  // from the intended start
  double audio_seconds = 0;
  uint64_t underruns = 0;  // pieces that came after the audio before them had been played
  std::chrono::nanoseconds stalled{0};  // silence these caused
};

// Everything measured in one run. Thread-safe; the read accessors are for after the last call.
class Recorder {
 public:
  struct PerStatus {
    Histogram latency;  // from the intended send time: free of coordinated omission
    Histogram service;  // from the real send time
  };

  Recorder(SteadyTime start, std::chrono::nanoseconds window) : start_(start), window_(window) {}

  void AddCall(const grpc::Status& status, const CallTimes& times);
  void AddUnsent() { unsent_.fetch_add(1, std::memory_order_relaxed); }
  void AddWrong() { wrong_.fetch_add(1, std::memory_order_relaxed); }
  void AddWork(double audio_seconds, uint64_t output_bytes);
  void AddGap(std::chrono::nanoseconds gap) { gaps_.Add(gap); }
  void AddPlayback(const Playback& playback);
  // When the first words of a streamed translation came, from the intended start.
  void AddFirstText(std::chrono::nanoseconds after) { first_text_.Add(after); }

  SteadyTime start() const { return start_; }
  const PerStatus& status(size_t code) const { return statuses_[code]; }
  const Histogram& send_lag() const { return send_lag_; }
  const Histogram& gaps() const { return gaps_; }
  const Histogram& first_audio() const { return first_audio_; }
  const Histogram& first_text() const { return first_text_; }
  uint64_t unsent() const { return unsent_.load(std::memory_order_relaxed); }
  uint64_t wrong() const { return wrong_.load(std::memory_order_relaxed); }
  // OK answers that came within the window, which starts at start(); all of them without a window.
  uint64_t ok_in_window() const { return ok_in_window_.load(std::memory_order_relaxed); }
  uint64_t output_bytes() const { return output_bytes_.load(std::memory_order_relaxed); }
  double audio_seconds() const { return audio_ns_.load(std::memory_order_relaxed) / 1e9; }
  uint64_t underruns() const { return underruns_.load(std::memory_order_relaxed); }
  uint64_t streams_with_underrun() const {
    return streams_with_underrun_.load(std::memory_order_relaxed);
  }
  double stalled_seconds() const { return stalled_ns_.load(std::memory_order_relaxed) / 1e9; }
  // The first message seen for each status other than OK.
  std::map<int, std::string> messages() const MILLRACE_EXCLUDES(mu_);

 private:
  const SteadyTime start_;
  const std::chrono::nanoseconds window_;  // 0: none

  std::array<PerStatus, kStatusCodes> statuses_;
  Histogram send_lag_;
  Histogram gaps_;
  Histogram first_audio_;
  Histogram first_text_;
  std::atomic<uint64_t> unsent_{0};
  std::atomic<uint64_t> wrong_{0};
  std::atomic<uint64_t> ok_in_window_{0};
  std::atomic<uint64_t> output_bytes_{0};
  std::atomic<int64_t> audio_ns_{0};
  std::atomic<uint64_t> underruns_{0};
  std::atomic<uint64_t> streams_with_underrun_{0};
  std::atomic<int64_t> stalled_ns_{0};

  mutable Mutex mu_;
  std::map<int, std::string> messages_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::loadgen
