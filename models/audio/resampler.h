#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

struct soxr;

namespace millrace::models {

// Changes the sample rate of one channel, chunk by chunk and without a gap between chunks, by
// soxr's high-quality band-limited interpolation. Some milliseconds stay inside until Flush. One
// thread at a time.
class Resampler {
 public:
  // Rates in hertz, > 0.
  static absl::StatusOr<Resampler> Make(int input_rate, int output_rate);

  // Samples outside -1..1 are clipped and NaN becomes silence, because the filter would spread
  // them. The result may exceed -1..1 a little.
  std::vector<float> Push(std::span<const float> samples);
  // Returns the remaining samples; Push must not follow. In all there are `output_rate` samples for
  // each second of input, rounded.
  std::vector<float> Flush();

 private:
  struct Delete {
    void operator()(soxr* handle) const;
  };
  Resampler(std::unique_ptr<soxr, Delete> handle, double ratio)
      : handle_(std::move(handle)), ratio_(ratio) {}

  std::unique_ptr<soxr, Delete> handle_;
  double ratio_;  // output samples of an input sample
};

}  // namespace millrace::models
