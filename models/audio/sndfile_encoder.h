#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "models/audio/audio_encoder.h"

namespace millrace::models {

// Makes an encoder for kFlac, kMp3 (80 kbit/s at 16..24 kHz) or kOggOpus (variable, about 40 kbit/s
// at 24 kHz, pages of 0.2 s) with libsndfile, at one of the format's rates. Returns Internal with
// libsndfile's message when it refuses.
absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeSndfileEncoder(AudioFormat format,
                                                                 AudioContainer container,
                                                                 int sample_rate);

}  // namespace millrace::models
