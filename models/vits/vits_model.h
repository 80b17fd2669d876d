#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/model_info.h"
#include "models/core/shape_policy.h"
#include "models/speech/speech_cache.h"
#include "mps_runtime/stream.h"

namespace millrace::vits {

struct VitsOptions {
  std::filesystem::path weights_file;  // safetensors
  std::filesystem::path voice_file;    // the voice's JSON
  std::string language;                // BCP 47
  std::string voice;                   // its name in requests
  float gain_db = 0;                   // applied to the network's samples
  models::SpeechPauses pauses = {};
  runtime::DeviceType device = runtime::DeviceType::kCpu;
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  speech::SpeechCache::ForModel cache = {};  // sentences that were spoken
  std::string espeak_program = "espeak-ng";  // a name to find in PATH, or a path
  size_t max_espeak_processes = 4;
  std::chrono::milliseconds espeak_timeout{5000};  // of one sentence
};

// A Piper voice: text to speech by VITS, a sentence in each step. Samples have one gain for the
// voice, and the peak of each sentence is not normalised, so that a quiet sentence stays quiet and
// a stream sounds like the whole.
class VitsModel {
 public:
  // Reads and checks the weights, and starts espeak-ng once. Errors name the file or the program
  // and what is wrong with it.
  static absl::StatusOr<std::unique_ptr<models::Model>> Load(const VitsOptions& options,
                                                             models::ModelInfo info);
};

}  // namespace millrace::vits
