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
  std::chrono::microseconds linger{
      0};                 // how long the oldest request may wait for company; 0: take what is there
  size_t queue_size = 0;  // waiting requests; 0: the server's --queue-size
  // A request is many short steps, and each batch is formed anew (Orca, Yu et al. 2022): only so
  // many requests are under way as there are places, and the next takes the place of one that ends.
  bool continuous = false;
  // Whether workers divide what is there among them, rather than that one takes a full batch: where
  // a batch costs about as much as its requests one by one.
  bool divided = false;
  // With continuous batches: the work (Model::EstimateWork) with which a batch is full however few
  // requests it is of. 0: only max_batch says.
  double full_work = 0;
};

// The voice of a model for texts in a language.
struct LanguageVoice {
  std::string language;  // BCP 47
  std::string voice;

  friend bool operator==(const LanguageVoice&, const LanguageVoice&) = default;
};

// What is known of a loaded model without running it. Constant after load.
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
  std::string target_language;      // of requests that name none, as the source
  // kTranslation: all that requests may name, where there are several.
  std::vector<std::string> source_languages = {};
  std::vector<std::string> target_languages = {};
  int max_hypotheses = 1;              // kTranslation: of a sentence, that requests may ask for
  std::vector<std::string> voices;     // kSynthesis; the first is the default
  std::string language;                // kSynthesis: BCP 47, of texts that name none
  std::vector<std::string> languages;  // kSynthesis: all that texts may be in, that one first
  // kSynthesis: BCP 47, what each of the voices was made for, in their order; empty: unknown.
  std::vector<std::string> voice_languages = {};
  // kSynthesis: of requests that name none, where it is not the first.
  std::vector<LanguageVoice> default_voices = {};
  // kSynthesis: about the work of a second of speech, that of a Piper voice being 1.
  float speech_cost = 1;
  int sample_rate = 0;  // kSynthesis: hertz
};

// The languages that a translation model reads, and gives: at least one.
std::vector<std::string> SourceLanguages(const ModelInfo& info);
std::vector<std::string> TargetLanguages(const ModelInfo& info);
// Whether the tag is among them, whatever its case.
bool HasLanguage(const std::vector<std::string>& languages, std::string_view tag);

}  // namespace millrace::models
