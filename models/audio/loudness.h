#pragma once

#include <memory>
#include <span>
#include <utility>

#include "absl/status/statusor.h"

namespace millrace::models {

// Brings speech to one loudness: -19 LUFS by ITU-R BS.1770 (one channel; as loud as -16 LUFS in
// stereo), no sample above -1 dBFS, at most 20 dB louder. For one thread at a time.
//
// The integrated loudness of a whole is known at its end only. Given all at once the whole has one
// gain. Given sentence by sentence, the gain of each comes of all that was said so far, itself
// included, and is reached within 10 ms: the first is exact, later ones move less and less. Before
// 0.4 s have been heard nothing can be measured and the gain stays 1.
class LoudnessNormalizer {
 public:
  // In hertz, > 0. Internal when there is no memory.
  static absl::StatusOr<LoudnessNormalizer> Make(int sample_rate);

  // Scales a sentence in place. NaN becomes silence.
  void Apply(std::span<float> sentence);

 private:
  struct Meter;  // libebur128's, whose type cannot be named here
  struct Delete {
    void operator()(Meter* meter) const;
  };
  LoudnessNormalizer(std::unique_ptr<Meter, Delete> meter, int sample_rate)
      : meter_(std::move(meter)), sample_rate_(sample_rate) {}

  std::unique_ptr<Meter, Delete> meter_;
  int sample_rate_;
  float gain_ = 1;  // of the sentence before
  bool first_ = true;
};

}  // namespace millrace::models
