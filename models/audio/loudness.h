#pragma once

#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

namespace millrace::models {

// Normalises speech to -19 LUFS by ITU-R BS.1770 (one channel; as loud as -16 LUFS in stereo), with
// no sample above -1 dBFS and at most 20 dB of gain. One thread at a time.
//
// The integrated loudness is known only at the end of the audio. Audio that is given at once has
// one gain. For audio that is given sentence by sentence, the gain of each follows from everything
// up to its end and is reached within 10 ms: the first is exact, and later gains change less and
// less. Nothing can be measured in the first 0.4 s, and the gain stays 1.
class LoudnessNormalizer {
 public:
  // sample_rate: hertz, > 0. Returns Internal when there is no memory.
  static absl::StatusOr<LoudnessNormalizer> Make(int sample_rate);

  // Scales a sentence in place. NaN becomes silence.
  void Apply(std::span<float> sentence);

 private:
  struct Meter;  // wraps libebur128's state, whose type cannot be declared here
  struct Delete {
    void operator()(Meter* meter) const;
  };
  LoudnessNormalizer(std::unique_ptr<Meter, Delete> meter, int sample_rate)
      : meter_(std::move(meter)), sample_rate_(sample_rate) {}

  std::unique_ptr<Meter, Delete> meter_;
  int sample_rate_;
  float gain_ = 1;  // the gain of the previous sentence
  bool first_ = true;
};

}  // namespace millrace::models
