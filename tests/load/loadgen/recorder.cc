#include "tests/load/loadgen/recorder.h"

#include <algorithm>

namespace millrace::loadgen {

void Recorder::AddCall(const grpc::Status& status, const CallTimes& times) {
  const auto code = std::min(static_cast<size_t>(status.error_code()), kStatusCodes - 1);
  PerStatus& slot = statuses_[code];
  const bool first = slot.latency.count() == 0;
  slot.latency.Add(times.done - times.intended);
  slot.service.Add(times.done - times.sent);
  send_lag_.Add(times.sent - times.intended);
  if (status.ok()) {
    if (window_.count() == 0 || times.done - start_ <= window_) {
      ok_in_window_.fetch_add(1, std::memory_order_relaxed);
    }
  } else if (first) {
    MutexLock lock(mu_);
    messages_.try_emplace(static_cast<int>(code), status.error_message());
  }
}

void Recorder::AddWork(double audio_seconds, uint64_t output_bytes) {
  audio_ns_.fetch_add(static_cast<int64_t>(audio_seconds * 1e9), std::memory_order_relaxed);
  output_bytes_.fetch_add(output_bytes, std::memory_order_relaxed);
}

void Recorder::AddPlayback(const Playback& playback) {
  first_audio_.Add(playback.first_audio);
  underruns_.fetch_add(playback.underruns, std::memory_order_relaxed);
  if (playback.underruns > 0) streams_with_underrun_.fetch_add(1, std::memory_order_relaxed);
  stalled_ns_.fetch_add(playback.stalled.count(), std::memory_order_relaxed);
}

std::map<int, std::string> Recorder::messages() const {
  MutexLock lock(mu_);
  return messages_;
}

}  // namespace millrace::loadgen
