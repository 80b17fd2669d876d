#pragma once

#include <memory>

#include "models/audio/audio_encoder.h"

namespace millrace::models {

// kPcmS16, kPcmF32 or kWav. A streamed WAV says 0xFFFFFFFF for its lengths, which players read to
// the end.
std::unique_ptr<AudioEncoder> MakePcmEncoder(AudioFormat format, AudioContainer container,
                                             int sample_rate);

}  // namespace millrace::models
