#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/shape_policy.h"
#include "models/kernels/precision.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/translation/search/search_options.h"
#include "models/translation/translation_cache.h"
#include "models/translation/translation_engine.h"
#include "models/translation/translation_plan.h"
#include "models/translation/vocabulary.h"
#include "mps_runtime/device_traits.h"

namespace millrace::seq2seq {

struct Seq2SeqOptions {
  std::filesystem::path weights_file;
  std::filesystem::path config_file;
  std::filesystem::path pieces_file;
  std::filesystem::path words_file;
  std::filesystem::path target_words_file;   // for translations; empty: words_file
  std::filesystem::path target_pieces_file;  // for translations; empty: pieces_file
  float max_length_factor = 2.5F;            // target tokens per source token, plus 5
  size_t max_source_tokens = 128;            // a longer sentence is cut where a clause begins
  translation::SearchOptions search;         // `hypotheses` is 1
  // CUDA: float16 in place of float32; others on the CPU only. None: bfloat16 on a CPU that
  // multiplies it, else float32.
  std::optional<kernels::Precision> precision = kernels::Precision::kFloat32;
  runtime::DeviceType device = runtime::DeviceType::kCpu;
  models::ShapePolicy shapes = models::ShapePolicy::kExact;
  translation::TranslationCache::ForModel cache = {};  // finished translations
};

// An encoder-decoder transformer for one pair of languages or for many. Each step takes the next
// sentences of its requests in turn. Text without any known token is copied. Thread-safe; all
// workers share the weights.
class Seq2SeqModel final : public models::Model {
 public:
  // The default size of a batch: the largest at which a step takes little longer than with fewer
  // requests.
  static constexpr size_t MaxBatch(runtime::DeviceType device) {
    return runtime::TraitsOf(device).large_batches ? 128 : 32;
  }

  // Sets the task, the platform and the languages of `info`, whose source_language and
  // target_language must be set. Returns NotFound, DataLoss or InvalidArgument that names the file
  // or field.
  static absl::StatusOr<std::unique_ptr<models::Model>> Load(const Seq2SeqOptions& options,
                                                             models::ModelInfo info);

  const models::ModelInfo& info() const override { return info_; }
  absl::Status Validate(const models::Input& input) const override;
  double EstimateWork(const models::Input& input) const override;
  void PrepareAhead(models::Request& request) const override;
  std::unique_ptr<models::Batch> Prepare(std::span<models::Request* const> requests) const override;
  std::vector<models::Input> WarmupInputs() const override;

 private:
  Seq2SeqModel(const Seq2SeqOptions& options, Seq2SeqConfig config, models::ModelInfo info,
               translation::Vocabularies vocabularies,
               std::unique_ptr<const translation::TranslationEngine> engine);

  // Returns the token of a language tag, which Validate has checked; if it is empty, of the
  // default.
  int32_t LanguageTokenId(const std::string& asked, const std::string& otherwise) const;
  translation::SentenceFrame FrameOf(const models::TranslateInput& input) const;
  translation::TranslationSettings SettingsOf(const models::TranslateInput& input) const;

  const models::ModelInfo info_;
  const Seq2SeqConfig config_;
  const float max_length_factor_;
  const size_t max_source_tokens_;
  const translation::SearchOptions search_;
  const bool few_shapes_;
  const bool prepares_ahead_;
  const translation::Vocabularies vocabularies_;
  const std::unique_ptr<const translation::TranslationEngine> engine_;
  const translation::TranslationCache::ForModel cache_;
};

}  // namespace millrace::seq2seq
