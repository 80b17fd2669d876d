#pragma once

#include <memory>

#include "models/audio/audio_encoder.h"

namespace millrace::models {

// Makes an encoder for kPcmS16, kPcmF32 or kWav. A streamed WAV states 0xFFFFFFFF as its lengths,
// which players read to the end.
std::unique_ptr<AudioEncoder> MakePcmEncoder(AudioFormat format, AudioContainer container,
                                             int sample_rate);

}  // namespace millrace::models
