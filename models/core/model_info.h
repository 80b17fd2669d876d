#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
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

// The description of a loaded model. Constant after load.
struct ModelInfo {
  std::string name;
  int64_t version = 1;
  std::string platform;  // "torchscript", "vits", "bergamot", "kokoro" or "seq2seq"
  std::string license;   // SPDX expression of the weights
  Task task = Task::kInfer;
  BatchPolicy batching;
  std::vector<TensorSpec> inputs;   // kInfer only
  std::vector<TensorSpec> outputs;  // kInfer only
  std::string source_language;      // kTranslation: BCP 47
  std::string target_language;      // for requests that name none, as source_language
  // kTranslation: all languages that requests may name, where there are several.
  std::vector<std::string> source_languages = {};
  std::vector<std::string> target_languages = {};
  int max_hypotheses = 1;              // kTranslation: for each sentence, that requests may ask for
  std::vector<std::string> voices;     // kSynthesis; the first is the default
  std::string language;                // kSynthesis: BCP 47, for texts that name none
  std::vector<std::string> languages;  // kSynthesis: all languages of texts, `language` first
  // kSynthesis: BCP 47, the language that each of the voices was made for, in their order; empty:
  // unknown.
  std::vector<std::string> voice_languages = {};
  // kSynthesis: default voices by language, where they are not the first voice.
  std::vector<LanguageVoice> default_voices = {};
  // kSynthesis: the approximate work of a second of speech; a Piper voice has 1.
  float speech_cost = 1;
  int sample_rate = 0;  // kSynthesis: hertz
};

// Return the languages that a translation model reads and writes: at least one each.
std::vector<std::string> SourceLanguages(const ModelInfo& info);
std::vector<std::string> TargetLanguages(const ModelInfo& info);
// Returns true if the tag is among the languages, ignoring case.
bool HasLanguage(const std::vector<std::string>& languages, std::string_view tag);

}  // namespace millrace::models
