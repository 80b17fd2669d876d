#include "models/bergamot/bergamot_model.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "models/bergamot/bergamot_weights.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/translation/search/search_request.h"
#include "models/translation/translation_batch.h"
#include "models/translation/translation_engine.h"
#include "models/translation/vocabulary.h"

namespace millrace::bergamot {
namespace {

constexpr size_t kMostWarmupPhrases = 16;  // the phrases of one text
constexpr size_t kWholeStepTokens = 2048;

// Each phrase has about four tokens.
std::string WarmupText(size_t phrases) {
  std::string text = "a 1";
  for (size_t i = 0; i < phrases; ++i) text += " 2, 3";
  return text;
}

absl::StatusOr<translation::Vocabularies> LoadVocabularies(const BergamotOptions& options,
                                                           const BergamotWeights& weights) {
  if (options.target_vocabulary_file.empty() &&
      weights.source_tokens() != weights.target_tokens()) {
    return InvalidArgument("target_vocabulary_file: is needed, because the weights have ",
                           weights.source_tokens(), " tokens of the source and ",
                           weights.target_tokens(), " of the target");
  }
  translation::Vocabularies vocabularies;
  MILLRACE_ASSIGN_OR_RETURN(
      vocabularies.source,
      translation::Vocabulary::Load(options.vocabulary_file, weights.source_tokens()));
  vocabularies.target = vocabularies.source;
  if (options.target_vocabulary_file.empty()) return vocabularies;
  MILLRACE_ASSIGN_OR_RETURN(
      vocabularies.target,
      translation::Vocabulary::Load(options.target_vocabulary_file, weights.target_tokens()));
  return vocabularies;
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> BergamotModel::Load(const BergamotOptions& options,
                                                                   models::ModelInfo info) {
  MILLRACE_ASSIGN_OR_RETURN(auto weights, BergamotWeights::Load(options.weights_file));
  MILLRACE_ASSIGN_OR_RETURN(auto vocabularies, LoadVocabularies(options, *weights));
  auto engine =
      MakeEngine(options.engine, *weights, options.device, StrCat(info.name, "/", info.version));
  weights->DropLayers();
  info.platform = "bergamot";
  // On a device a batch is decoded to its end in one step, so it is neither continuous nor divided.
  info.batching.continuous = info.batching.divided = options.engine == EngineKind::kInt8;
  info.batching.full_work =
      translation::StepLimits::kWorkOfRow * static_cast<double>(translation::StepLimits().max_rows);
  return std::unique_ptr<models::Model>(new BergamotModel(
      options, std::move(info), std::move(weights), std::move(vocabularies), std::move(engine)));
}

BergamotModel::BergamotModel(const BergamotOptions& options, models::ModelInfo info,
                             std::unique_ptr<const BergamotWeights> weights,
                             translation::Vocabularies vocabularies,
                             std::unique_ptr<const translation::TranslationEngine> engine)
    : info_(std::move(info)),
      max_length_factor_(options.max_length_factor),
      max_source_tokens_(options.max_source_tokens),
      shapes_(options.shapes),
      weights_(std::move(weights)),
      vocabularies_(std::move(vocabularies)),
      engine_(std::move(engine)),
      cache_(options.cache) {}

BergamotModel::~BergamotModel() = default;

absl::Status BergamotModel::Validate(const models::Input& input) const {
  MILLRACE_RETURN_IF_ERROR(translation::CheckTexts(input, info_));
  const auto& translate = std::get<models::TranslateInput>(input);
  const auto begins = [](const std::string& beginning) { return !beginning.empty(); };
  if (std::ranges::any_of(translate.target_prefixes, begins)) {
    return InvalidArgument("target_prefixes: model '", info_.name,
                           "' begins its translations as it will; leave them out");
  }
  return translation::CheckGreedy(translate.search);
}

double BergamotModel::EstimateWork(const models::Input& input) const {
  return translation::EstimateWork(std::get<models::TranslateInput>(input));
}

std::unique_ptr<models::Batch> BergamotModel::Prepare(
    std::span<models::Request* const> requests) const {
  translation::StepLimits limits;
  limits.max_source_tokens = max_source_tokens_;
  // Tokens take little time; longer steps would only delay new requests.
  limits.time = std::chrono::milliseconds(4);
  limits.time_each = std::chrono::microseconds(250);
  // Where a step is the whole translation, it takes as many tokens as a device handles at once.
  if (!info_.batching.continuous) limits.max_step_tokens = kWholeStepTokens;
  const auto settings_of = [this](const models::TranslateInput& input) {
    translation::TranslationSettings settings = translation::SettingsOf(input, info_.translation());
    settings.frame.after = {BergamotWeights::kEndOfSentence};
    settings.max_length_factor = max_length_factor_;
    return settings;
  };
  return std::make_unique<translation::TranslationBatch>(requests, limits, settings_of,
                                                         vocabularies_, *engine_, cache_);
}

std::vector<models::Input> BergamotModel::WarmupInputs() const {
  std::vector<models::TranslateInput> inputs(1);
  inputs[0].texts.emplace_back("a 2025");
  if (shapes_ != models::ShapePolicy::kExact) {
    std::vector<std::string>& texts = inputs.emplace_back().texts;
    for (size_t i = 1; i <= info_.batching.max_batch; ++i)
      texts.push_back(WarmupText(std::min(i, kMostWarmupPhrases)));
  }
  if (shapes_ == models::ShapePolicy::kFew) {
    // Runs one sentence of each length, and each number of sentences of the commonest length.
    for (const size_t phrases : {1, 3, 6, 12})
      inputs.emplace_back().texts.push_back(WarmupText(phrases));
    for (size_t sentences = 2; sentences <= info_.batching.max_batch; sentences *= 2)
      inputs.emplace_back().texts.assign(sentences, WarmupText(3));
  }
  for (models::TranslateInput& input : inputs) input.use_cache = false;
  return {std::make_move_iterator(inputs.begin()), std::make_move_iterator(inputs.end())};
}

}  // namespace millrace::bergamot
