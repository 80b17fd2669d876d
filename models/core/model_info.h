#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/core/tensor.h"

namespace millrace::models {

enum class Task : uint8_t { kInfer, kTranslation, kSynthesis };

// "infer", "translation" or "synthesis".
std::string_view ToString(Task task);

struct TensorSpec {
  std::string name;
  DataType type = DataType::kFp32;
  std::vector<int64_t> shape;  // -1: any size
};

// How the scheduler forms batches for a model.
struct BatchPolicy {
  size_t max_batch = 1;  // requests in one step, >= 1
  // How long the oldest request may wait for others to join its batch; 0: not at all.
  std::chrono::microseconds linger{0};
  size_t queue_size = 0;  // waiting requests; 0: the server's --queue-size
  // A request is many short steps, and each batch is formed anew (Orca, Yu et al. 2022): only as
  // many requests are under way as there are places, and the next begins when one ends.
  bool continuous = false;
  // If true, workers divide the waiting requests among them, instead of one taking a full batch:
  // for models whose batches cost about as much as their requests one by one.
  bool divided = false;
  // With continuous batches: the work (Model::EstimateWork) at which a batch is full although it
  // has fewer than max_batch requests. 0: only max_batch limits it.
  double full_work = 0;
};

// The default voice of a model for texts in a language.
struct LanguageVoice {
  std::string language;  // BCP 47
  std::string voice;

  friend bool operator==(const LanguageVoice&, const LanguageVoice&) = default;
};

// The tensors that a model takes and returns, for the task kInfer.
struct InferInfo {
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
};

// The languages of a translation model, as BCP 47 tags.
struct TranslationInfo {
  std::string source_language = {};  // for requests that name none
  std::string target_language = {};
  // All languages that requests may name, where there are several.
  std::vector<std::string> source_languages = {};
  std::vector<std::string> target_languages = {};
  int max_hypotheses = 1;  // for each sentence, that requests may ask for
};

// The voices of a speech model and what they speak, as BCP 47 tags.
struct SpeechInfo {
  std::vector<std::string> voices = {};     // the first is the default
  std::string language = {};                // for texts that name none
  std::vector<std::string> languages = {};  // the languages of texts, `language` first
  // The language that each of the voices was made for, in their order; empty: unknown.
  std::vector<std::string> voice_languages = {};
  // Default voices by language, where they are not the first voice.
  std::vector<LanguageVoice> default_voices = {};
  // The approximate work of a second of speech; a Piper voice has 1.
  float speech_cost = 1;
  int sample_rate = 0;  // hertz
  // The languages, as BCP 47 tags, in whose texts a word may have a pronunciation behind it, as in
  // "[word](/phonemes/)".
  std::vector<std::string> pronunciation_languages = {};
  // The range of the speed of speech.
  float min_speed = 0.25F;
  float max_speed = 4.0F;
  // "float32", "int8" or, of a model that is not loaded, "auto".
  std::string precision = "float32";
  // The distance of sounds in int8 from those in float32 that was measured, dB; 0: none was.
  float int8_distance_db = 0;
};

// In the order of Task.
using ModelDetails = std::variant<InferInfo, TranslationInfo, SpeechInfo>;

// The description of a loaded model. Constant after load.
struct ModelInfo {
  std::string name;
  int64_t version = 1;
  std::string platform;  // the model's kind, by its name in models/kinds.inc
  std::string license;   // SPDX expression of the weights
  BatchPolicy batching;
  ModelDetails details;

  Task task() const { return static_cast<Task>(details.index()); }

  // These functions return the details of a model with that task. They throw
  // std::bad_variant_access if the model has another task.
  const InferInfo& infer() const { return std::get<InferInfo>(details); }
  InferInfo& infer() { return std::get<InferInfo>(details); }
  const TranslationInfo& translation() const { return std::get<TranslationInfo>(details); }
  TranslationInfo& translation() { return std::get<TranslationInfo>(details); }
  const SpeechInfo& speech() const { return std::get<SpeechInfo>(details); }
  SpeechInfo& speech() { return std::get<SpeechInfo>(details); }
};

// Return the languages that a translation model reads and writes: at least one each.
std::vector<std::string> SourceLanguages(const TranslationInfo& info);
std::vector<std::string> TargetLanguages(const TranslationInfo& info);
// Returns true if the tag is among the languages, ignoring case.
bool HasLanguage(const std::vector<std::string>& languages, std::string_view tag);

}  // namespace millrace::models
