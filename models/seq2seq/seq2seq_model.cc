#include "models/seq2seq/seq2seq_model.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/packed_linear.h"
#include "models/seq2seq/aten_seq2seq_engine.h"
#include "models/seq2seq/seq2seq_engine.h"
#include "models/seq2seq/seq2seq_weights.h"
#include "models/translation/search/search_request.h"
#include "models/translation/translation_batch.h"
#include "mps_runtime/base/log_sink.h"

namespace millrace::seq2seq {
namespace {

// Tokens of the config that the weights lack would be read beyond the embeddings.
absl::Status CheckTokens(const Seq2SeqConfig& config, const Seq2SeqWeights& weights,
                         const std::string& file) {
  const auto check = [&](const char* field, int32_t token, int64_t tokens) {
    if (token < tokens) return absl::OkStatus();
    return InvalidArgument(file, ": ", field, ": ", token, " is not a token, allowed 0..",
                           tokens - 1);
  };
  const int64_t source = weights.source_tokens();
  const int64_t target = weights.tokens();
  absl::Status status = check("start", config.start, target);
  status.Update(check("end", config.end, target));
  status.Update(check("source_end", config.source_end, source));
  status.Update(check("unknown", config.unknown, source));
  status.Update(check("target_unknown", config.target_unknown, target));
  for (const int32_t token : config.suppressed) status.Update(check("suppressed", token, target));
  for (const LanguageToken& language : config.languages) {
    status.Update(check("languages", language.id, source));
    if (config.language_tokens == LanguageTokens::kSourceAndTarget)
      status.Update(check("languages", language.id, target));
  }
  return status;
}

absl::StatusOr<translation::Vocabularies> LoadVocabularies(const Seq2SeqOptions& options,
                                                           const Seq2SeqConfig& config,
                                                           const Seq2SeqWeights& weights) {
  const bool own_tokens = !options.target_words_file.empty();
  if (!own_tokens && weights.source_tokens() != weights.tokens()) {
    return DataLoss(
        options.weights_file.string(), ": has embeddings of ", weights.source_tokens(),
        " source tokens and ", weights.tokens(),
        " target tokens: these need a vocabulary each, and target_words_file names none");
  }
  translation::Vocabularies vocabularies;
  MILLRACE_ASSIGN_OR_RETURN(vocabularies.source, translation::Vocabulary::LoadWithTable(
                                                     options.pieces_file, options.words_file,
                                                     weights.source_tokens(), config.unknown));
  vocabularies.target = vocabularies.source;
  const bool own_pieces = !options.target_pieces_file.empty();
  if (own_tokens || own_pieces) {
    MILLRACE_ASSIGN_OR_RETURN(vocabularies.target,
                              translation::Vocabulary::LoadWithTable(
                                  own_pieces ? options.target_pieces_file : options.pieces_file,
                                  own_tokens ? options.target_words_file : options.words_file,
                                  weights.tokens(), config.target_unknown));
  }
  return vocabularies;
}

absl::Status CheckDefault(const char* field, const std::string& language,
                          const std::vector<std::string>& all) {
  if (models::HasLanguage(all, language)) return absl::OkStatus();
  return InvalidArgument(field, ": '", language, "' is not among the model's ", all.size(),
                         " languages, the first of which is '", all.front(), "'");
}

absl::StatusOr<kernels::Precision> PrecisionFor(const Seq2SeqOptions& options,
                                                const std::string& model) {
  using kernels::Precision;
  const bool on_cpu = options.device == runtime::DeviceType::kCpu;
  if (!options.precision) {
    const bool fast = on_cpu && kernels::IsNative(Precision::kBfloat16);
    if (on_cpu) {
      SendToLog(LogSeverity::kInfo,
                StrCat("model '", model, "': PRECISION_AUTO is ", fast ? "bfloat16" : "float32",
                       ", because this processor ", fast ? "multiplies" : "does not multiply",
                       " bfloat16"));
    }
    return fast ? Precision::kBfloat16 : Precision::kFloat32;
  }
  if (!on_cpu && *options.precision != Precision::kFloat32) {
    return InvalidArgument(
        "precision: bfloat16 and int8 are for the CPU; on a device none may be set, or "
        "PRECISION_FLOAT32 or PRECISION_AUTO");
  }
  if (on_cpu && !kernels::IsNative(*options.precision)) {
    return InvalidArgument(
        "precision: PRECISION_BFLOAT16 would be slower than float32 on this processor, which does "
        "not multiply bfloat16; allowed here are PRECISION_FLOAT32, PRECISION_INT8 and "
        "PRECISION_AUTO");
  }
  return *options.precision;
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> Seq2SeqModel::Load(const Seq2SeqOptions& options,
                                                                  models::ModelInfo info) {
  MILLRACE_RETURN_IF_ERROR(translation::CheckSearchOptions(options.search));
  MILLRACE_ASSIGN_OR_RETURN(const auto precision, PrecisionFor(options, info.name));
  MILLRACE_ASSIGN_OR_RETURN(auto config, ReadSeq2SeqConfig(options.config_file));
  MILLRACE_ASSIGN_OR_RETURN(auto weights, Seq2SeqWeights::Load(options.weights_file, config));
  MILLRACE_RETURN_IF_ERROR(CheckTokens(config, weights, options.config_file.string()));
  if (static_cast<int64_t>(options.max_source_tokens) > weights.longest()) {
    return InvalidArgument("max_source_tokens: ", options.max_source_tokens,
                           " is out of range, allowed 16..", weights.longest());
  }
  MILLRACE_ASSIGN_OR_RETURN(auto vocabularies, LoadVocabularies(options, config, weights));
  info.platform = "seq2seq";
  info.batching.continuous = true;
  info.batching.divided = options.device == runtime::DeviceType::kCpu;
  info.batching.full_work =
      translation::StepLimits::kWorkOfRow *
      static_cast<double>(std::max(translation::StepLimits().max_rows, info.batching.max_batch));
  models::TranslationInfo& languages = info.translation();
  languages.max_hypotheses = translation::SearchOptions::kMaxBeam;
  for (const LanguageToken& language : config.languages) {
    languages.target_languages.push_back(language.tag);
    if (config.language_tokens == LanguageTokens::kSourceAndTarget)
      languages.source_languages.push_back(language.tag);
  }
  absl::Status status = CheckDefault("source_language", languages.source_language,
                                     models::SourceLanguages(languages));
  status.Update(CheckDefault("target_language", languages.target_language,
                             models::TargetLanguages(languages)));
  if (!status.ok()) return status;
  std::unique_ptr<const translation::TranslationEngine> engine;
  if (options.device == runtime::DeviceType::kCpu) {
    engine = std::make_unique<Seq2SeqEngine>(
        std::make_unique<Seq2SeqNetwork>(weights, config, kernels::LinearKernels::For(precision)),
        config, static_cast<size_t>(weights.longest()));
  } else {
    engine = MakeAtenSeq2SeqEngine(
        weights, config, {.device = options.device, .model = info.name, .shapes = options.shapes});
  }
  return std::unique_ptr<models::Model>(new Seq2SeqModel(
      options, std::move(config), std::move(info), std::move(vocabularies), std::move(engine)));
}

Seq2SeqModel::Seq2SeqModel(const Seq2SeqOptions& options, Seq2SeqConfig config,
                           models::ModelInfo info, translation::Vocabularies vocabularies,
                           std::unique_ptr<const translation::TranslationEngine> engine)
    : info_(std::move(info)),
      config_(std::move(config)),
      max_length_factor_(options.max_length_factor),
      max_source_tokens_(options.max_source_tokens),
      search_(options.search),
      few_shapes_(options.shapes == models::ShapePolicy::kFew),
      prepares_ahead_(options.device != runtime::DeviceType::kCpu),
      vocabularies_(std::move(vocabularies)),
      engine_(std::move(engine)),
      cache_(options.cache) {}

absl::Status Seq2SeqModel::Validate(const models::Input& input) const {
  MILLRACE_RETURN_IF_ERROR(translation::CheckTexts(input, info_));
  const auto& translate = std::get<models::TranslateInput>(input);
  absl::Status status;
  if (!translate.source_language.empty()) {
    status.Update(CheckDefault("source_language", translate.source_language,
                               models::SourceLanguages(info_.translation())));
  }
  if (!translate.target_language.empty()) {
    status.Update(CheckDefault("target_language", translate.target_language,
                               models::TargetLanguages(info_.translation())));
  }
  status.Update(translation::SearchFor(search_, translate.search).status());
  return status;
}

int32_t Seq2SeqModel::LanguageTokenId(const std::string& asked,
                                      const std::string& otherwise) const {
  const std::string& tag = asked.empty() ? otherwise : asked;
  return std::ranges::find_if(config_.languages,
                              [&](const LanguageToken& language) {
                                return absl::EqualsIgnoreCase(language.tag, tag);
                              })
      ->id;
}

translation::SentenceFrame Seq2SeqModel::FrameOf(const models::TranslateInput& input) const {
  translation::SentenceFrame frame;
  if (config_.has_source_end) frame.after = {config_.source_end};
  switch (config_.language_tokens) {
    case LanguageTokens::kNone:
      break;
    case LanguageTokens::kTargetInSource:
      frame.before = {LanguageTokenId(input.target_language, info_.translation().target_language)};
      break;
    case LanguageTokens::kSourceAndTarget:
      frame.before = {LanguageTokenId(input.source_language, info_.translation().source_language)};
      frame.prefix = {LanguageTokenId(input.target_language, info_.translation().target_language)};
      break;
  }
  return frame;
}

translation::TranslationSettings Seq2SeqModel::SettingsOf(
    const models::TranslateInput& input) const {
  translation::TranslationSettings settings = translation::SettingsOf(input, info_.translation());
  settings.frame = FrameOf(input);
  settings.search = *translation::SearchFor(search_, input.search);  // Validate has checked it
  settings.max_length_factor = max_length_factor_;
  settings.min_target = static_cast<size_t>(input.search.min_target_tokens.value_or(0));
  return settings;
}

double Seq2SeqModel::EstimateWork(const models::Input& input) const {
  return translation::EstimateWork(std::get<models::TranslateInput>(input));
}

void Seq2SeqModel::PrepareAhead(models::Request& request) const {
  // A longer text would hold the thread up.
  constexpr size_t kMostBytes = 4096;
  if (!prepares_ahead_) return;
  const auto& input = std::get<models::TranslateInput>(request.input());
  size_t bytes = 0;
  for (const std::string& text : input.texts) bytes += text.size();
  if (bytes > kMostBytes) return;
  translation::TranslationBatch::PrepareAhead(request, SettingsOf(input), max_source_tokens_,
                                              vocabularies_, cache_);
}

std::unique_ptr<models::Batch> Seq2SeqModel::Prepare(
    std::span<models::Request* const> requests) const {
  translation::StepLimits limits;
  limits.max_source_tokens = max_source_tokens_;
  limits.max_rows = std::max(limits.max_rows, info_.batching.max_batch);
  return std::make_unique<translation::TranslationBatch>(
      requests, limits, [this](const models::TranslateInput& input) { return SettingsOf(input); },
      vocabularies_, *engine_, cache_);
}

std::vector<models::Input> Seq2SeqModel::WarmupInputs() const {
  constexpr char kPhrase[] = "a 2, 3";
  const auto input_of = [](size_t sentences, const std::string& text) {
    models::TranslateInput input;
    input.texts.assign(sentences, text);
    input.use_cache = false;
    return input;
  };
  std::vector<models::Input> inputs = {input_of(1, StrCat(kPhrase, "."))};
  if (!few_shapes_) return inputs;
  // Runs the usual lengths, each with the usual numbers of sentences.
  for (const size_t phrases : {1, 6, 12}) {
    std::string text;
    for (size_t i = 0; i < phrases; ++i) absl::StrAppend(&text, i == 0 ? "" : " ", kPhrase);
    for (size_t sentences = 1; sentences <= 64; sentences *= 4)
      inputs.emplace_back(input_of(sentences, text));
    // Runs a text with a tag, which needs an alignment.
    models::TranslateInput marked = input_of(1, StrCat("<b>1</b> ", text));
    marked.format = models::TextFormat::kHtml;
    inputs.emplace_back(std::move(marked));
  }
  return inputs;
}

}  // namespace millrace::seq2seq
