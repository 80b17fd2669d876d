#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/model_info.h"
#include "models/core/shape_policy.h"
#include "models/speech/speech_cache.h"
#include "mps_runtime/stream.h"

namespace millrace::kokoro {

struct KokoroOptions {
  std::filesystem::path weights_file;  // safetensors
  std::filesystem::path config_file;   // kokoro.json
  std::filesystem::path lexicon_file;
  std::filesystem::path user_lexicon_file;     // empty: none
  std::filesystem::path japanese_words_file;   // empty: none
  std::filesystem::path chinese_lexicon_file;  // empty: no Chinese
  std::string language;                        // BCP 47, of the texts
  std::string voice;                           // the default; empty: the first of the config
  // The languages that the config's voices were made for.
  std::vector<models::LanguageVoice> voice_languages;
  // Default voices by language, where they differ.
  std::vector<models::LanguageVoice> default_voices;
  models::SpeechPauses pauses = {};
  runtime::DeviceType device = runtime::DeviceType::kCpu;
  // Unless kExact, requests are spoken in batches: needed on accelerators, slower on the CPU.
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  speech::SpeechCache::ForModel cache = {};  // sentences that were spoken
  std::string espeak_program = "espeak-ng";  // a name to find in PATH, or a path
  size_t max_espeak_processes = 4;
  std::chrono::milliseconds espeak_timeout{5000};  // of one sentence
};

// Kokoro-82M: text to speech with many voices, which a request may mix ("a:0.3+b:0.7"), a sentence
// in each step; a streamed request begins with a clause. The weights take 0.33 GB.
class KokoroModel {
 public:
  // The most requests that an accelerator speaks at once.
  static constexpr size_t kMaxBatch = 8;

  // Reads and checks the weights, and starts the language's front end once. Errors name the file or
  // the program and what is wrong with it.
  static absl::StatusOr<std::unique_ptr<models::Model>> Load(const KokoroOptions& options,
                                                             models::ModelInfo info);
};

}  // namespace millrace::kokoro
