#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/kernels/precision.h"

namespace millrace::models {

// The name of a model's config in its folder.
inline constexpr char kModelConfigFile[] = "model.pbtxt";
inline constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// The native form of model.pbtxt (schema: proto/millrace/config/v1/model.proto): values checked,
// defaults filled in. File names are plain names of files in the model's own folder.

struct TorchScriptConfig {
  std::string file;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  bool stack = false;
  std::vector<int64_t> warmup_sizes = {};  // for each -1 of the inputs; empty: 1
};

struct VitsConfig {
  std::string file;
  std::string voice_file;
  std::string language;
  std::string voice;
  float gain_db = 0;  // -20..20
  SpeechPauses pauses = {};
};

struct KokoroVoiceConfig {
  std::string name;
  std::string language;                  // that it was made for
  std::vector<std::string> default_for;  // languages

  friend bool operator==(const KokoroVoiceConfig&, const KokoroVoiceConfig&) = default;
};

struct KokoroConfig {
  std::string file;
  std::string config_file;
  std::string language;
  std::string voice;  // empty: the first
  std::string lexicon_file;
  std::string user_lexicon_file;  // empty: none
  std::vector<KokoroVoiceConfig> voices = {};
  SpeechPauses pauses = {};
};

struct BergamotConfig {
  std::string file;
  std::string vocabulary_file;
  std::string source_language;
  std::string target_language;
  float max_length_factor = 2.5F;
  int64_t max_source_tokens = 256;  // 16..1024
};

struct Seq2SeqModelConfig {
  std::string file;
  std::string config_file;
  std::string pieces_file;
  std::string words_file;
  std::string target_words_file;   // empty: words_file
  std::string target_pieces_file;  // empty: pieces_file
  std::string source_language;
  std::string target_language;
  float max_length_factor = 2.5F;
  int64_t max_source_tokens = 256;  // 16..1024
  int beam_size = 4;                // 1..16
  float length_penalty = 1.0F;      // -10..10
  bool early_stopping = false;
  int no_repeat_ngram_size = 0;     // 0..64; 0: no limit
  float repetition_penalty = 1.0F;  // 0.01..100
  kernels::Precision precision = kernels::Precision::kFloat32;
};

struct ModelConfig {
  std::string license;
  BatchPolicy batching = {.max_batch = 0};  // 0: what suits the model
  std::variant<TorchScriptConfig, VitsConfig, BergamotConfig, KokoroConfig, Seq2SeqModelConfig>
      kind;
};

// "torchscript", "vits", "bergamot", "kokoro" or "seq2seq".
std::string_view Platform(const ModelConfig& config);

// A file that a config names.
struct PackageFile {
  std::string name;
  std::string_view field;  // that names it
  uint64_t max_bytes = 0;  // larger ones are refused before they are read
};
// The files that the model needs.
std::vector<PackageFile> Files(const ModelConfig& config);
// What the config tells of the model; the loader adds what only the weights know.
ModelInfo MakeModelInfo(const ModelConfig& config, std::string name, int64_t version);

// Parses text format. Errors are InvalidArgument, one line per mistake: "<source>:<line>:<column>:
// <field>: <what, allowed>".
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text, std::string_view source);
absl::StatusOr<ModelConfig> ReadModelConfig(const std::filesystem::path& file);

}  // namespace millrace::models
