#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "models/bergamot/bergamot_engine.h"
#include "models/core/model.h"
#include "models/core/shape_policy.h"
#include "models/translation/translation_cache.h"
#include "models/translation/vocabulary.h"

namespace millrace::bergamot {

class BergamotWeights;

struct BergamotOptions {
  std::filesystem::path weights_file;
  std::filesystem::path vocabulary_file;
  std::filesystem::path target_vocabulary_file = {};  // empty: both languages share one
  float max_length_factor = 2.5F;                     // target tokens per source token, plus 5
  size_t max_source_tokens = 80;  // 16..1024; a longer sentence is cut at a clause
  EngineKind engine = EngineKind::kInt8;
  runtime::DeviceType device = runtime::DeviceType::kCpu;  // used by kAten
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  translation::TranslationCache::ForModel cache = {};  // finished translations
};

// A Bergamot tiny student model: SentencePiece, transformer encoder, SSRU decoder, greedy search.
// Each step takes the next sentences of its requests in turn, so that a long text shares the worker
// fairly. Text without any known token, such as emoji alone, is copied. Thread-safe; all workers
// share the weights.
class BergamotModel final : public models::Model {
 public:
  // Sets the task, the platform and missing fields of `info`. Returns DataLoss or InvalidArgument
  // that names the file or field.
  static absl::StatusOr<std::unique_ptr<models::Model>> Load(const BergamotOptions& options,
                                                             models::ModelInfo info);
  ~BergamotModel() override;

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override;
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;

 private:
  BergamotModel(const BergamotOptions& options, models::ModelInfo info,
                std::unique_ptr<const BergamotWeights> weights,
                translation::Vocabularies vocabularies,
                std::unique_ptr<const translation::TranslationEngine> engine);

  const models::ModelInfo info_;
  const float max_length_factor_;
  const size_t max_source_tokens_;
  const models::ShapePolicy shapes_;
  const std::unique_ptr<const BergamotWeights> weights_;
  const translation::Vocabularies vocabularies_;
  const std::unique_ptr<const translation::TranslationEngine> engine_;
  const translation::TranslationCache::ForModel cache_;
};

}  // namespace millrace::bergamot
