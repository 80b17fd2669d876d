#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "models/bergamot/bergamot_engine.h"
#include "models/core/model.h"
#include "models/translation/translation_cache.h"
#include "models/translation/vocabulary.h"

namespace millrace::models {

class BergamotWeights;

struct BergamotOptions {
  std::filesystem::path weights_file;
  std::filesystem::path vocabulary_file;
  float max_length_factor = 0;   // target words per source word, plus 5; 0: 2.5
  size_t max_source_tokens = 0;  // 16..1024; a longer sentence is cut at a word; 0: 256
  TranslationEngineKind engine = TranslationEngineKind::kQuantised;
  runtime::DeviceType device = runtime::DeviceType::kCpu;  // of kAten
  bool few_shapes = false;                // the warm-up runs every usual shape of kAten's batches
  TranslationCache::ForModel cache = {};  // of translations that were made
};

// A Bergamot tiny student: SentencePiece, transformer encoder, SSRU decoder, greedy search. A step
// takes the next sentences of each of its requests in turn, so that a long text shares fairly. Text
// that holds nothing the vocabulary knows, such as emoji alone, comes out as it went in.
// Thread-safe; the weights are shared by all workers.
class BergamotModel final : public Model {
 public:
  // Sets the task, platform and missing fields of `info`. DataLoss or InvalidArgument naming the
  // file or field.
  static absl::StatusOr<std::unique_ptr<Model>> Load(const BergamotOptions& options,
                                                     ModelInfo info);
  ~BergamotModel() override;

  const ModelInfo& info() const override { return info_; }
  absl::Status Validate(const Input& input) const override;
  double EstimateWork(const Input& input) const override;
  std::unique_ptr<Batch> Prepare(std::span<Request* const> requests) const override;
  std::vector<Input> WarmupInputs() const override;

 private:
  BergamotModel(const BergamotOptions& options, ModelInfo info,
                std::unique_ptr<const BergamotWeights> weights, Vocabularies vocabularies,
                std::unique_ptr<const TranslationEngine> engine);

  const ModelInfo info_;
  const float max_length_factor_;
  const size_t max_source_tokens_;
  const bool few_shapes_;
  const std::unique_ptr<const BergamotWeights> weights_;
  const Vocabularies vocabularies_;
  const std::unique_ptr<const TranslationEngine> engine_;
  const TranslationCache::ForModel cache_;
};

}  // namespace millrace::models
