#include "models/model_factory.h"

#include <utility>
#include <variant>

#include "models/bergamot/bergamot_model.h"
#include "models/kokoro/kokoro_model.h"
#include "models/seq2seq/seq2seq_model.h"
#include "models/torchscript/torchscript_model.h"
#include "models/translation/translation_cache.h"
#include "models/vits/vits_model.h"

namespace millrace::models {
namespace {

using Loaded = absl::StatusOr<std::unique_ptr<Model>>;

// One overload a kind of model.
struct Loader {
  const std::filesystem::path& folder;
  ModelInfo info;
  runtime::DeviceType device;
  bool few_shapes;
  bool batch_is_ours;  // the operator has not said how large
  translation::TranslationCache* translations;

  translation::TranslationCache::ForModel MakeCache() const {
    return translations == nullptr ? translation::TranslationCache::ForModel()
                                   : translations->MakeForModel();
  }

  Loaded operator()(const TorchScriptConfig& config) {
    return torchscript::LoadTorchScript({.file = folder / config.file,
                                         .stack = config.stack,
                                         .few_batch_sizes = few_shapes,
                                         .warmup_sizes = config.warmup_sizes,
                                         .device = device},
                                        std::move(info));
  }

  Loaded operator()(const VitsConfig& config) {
    vits::VitsOptions options;
    options.weights_file = folder / config.file;
    options.voice_file = folder / config.voice_file;
    options.language = config.language;
    options.voice = config.voice;
    options.gain_db = config.gain_db;
    options.pauses = config.pauses;
    options.device = device;
    options.few_lengths = few_shapes && device != runtime::DeviceType::kCpu;
    return vits::VitsModel::Load(options, std::move(info));
  }

  Loaded operator()(const BergamotConfig& config) {
    bergamot::BergamotOptions options;
    options.weights_file = folder / config.file;
    options.vocabulary_file = folder / config.vocabulary_file;
    options.max_length_factor = config.max_length_factor;
    options.max_source_tokens = static_cast<size_t>(config.max_source_tokens);
    // The exact integers are the CPU's own.
    if (device != runtime::DeviceType::kCpu) options.engine = bergamot::EngineKind::kAten;
    options.device = device;
    options.few_shapes = few_shapes && device != runtime::DeviceType::kCpu;
    options.cache = MakeCache();
    return bergamot::BergamotModel::Load(options, std::move(info));
  }

  Loaded operator()(const Seq2SeqModelConfig& config) {
    seq2seq::Seq2SeqOptions options;
    options.weights_file = folder / config.file;
    options.config_file = folder / config.config_file;
    options.pieces_file = folder / config.pieces_file;
    options.words_file = folder / config.words_file;
    if (!config.target_words_file.empty())
      options.target_words_file = folder / config.target_words_file;
    if (!config.target_pieces_file.empty())
      options.target_pieces_file = folder / config.target_pieces_file;
    options.max_length_factor = config.max_length_factor;
    options.max_source_tokens = static_cast<size_t>(config.max_source_tokens);
    options.search.beam_size = config.beam_size;
    options.search.length_penalty = config.length_penalty;
    if (config.early_stopping) options.search.early_stopping = translation::EarlyStopping::kAtBeams;
    options.search.no_repeat_ngram_size = config.no_repeat_ngram_size;
    options.search.repetition_penalty = config.repetition_penalty;
    options.precision = config.precision;
    options.cache = MakeCache();
    options.device = device;
    options.few_shapes = few_shapes && device != runtime::DeviceType::kCpu;
    if (batch_is_ours) info.batching.max_batch = seq2seq::Seq2SeqModel::MaxBatch(device);
    return seq2seq::Seq2SeqModel::Load(options, std::move(info));
  }

  Loaded operator()(const KokoroConfig& config) {
    kokoro::KokoroOptions options;
    options.weights_file = folder / config.file;
    options.config_file = folder / config.config_file;
    options.lexicon_file = folder / config.lexicon_file;
    if (!config.user_lexicon_file.empty())
      options.user_lexicon_file = folder / config.user_lexicon_file;
    options.language = config.language;
    options.voice = config.voice;
    for (const KokoroVoiceConfig& voice : config.voices) {
      options.voice_languages.push_back({voice.language, voice.name});
      for (const std::string& language : voice.default_for)
        options.default_voices.push_back({language, voice.name});
    }
    options.pauses = config.pauses;
    options.device = device;
    options.padded = device != runtime::DeviceType::kCpu;
    options.few_shapes = few_shapes;
    // Not where each size of a batch is compiled.
    if (batch_is_ours && device == runtime::DeviceType::kCuda)
      info.batching.max_batch = kokoro::KokoroModel::kMaxBatch;
    return kokoro::KokoroModel::Load(options, std::move(info));
  }
};

}  // namespace

ModelFactory MakeModelFactory(runtime::DeviceType device, bool few_shapes,
                              translation::TranslationCache* translations) {
  return [=](const ModelConfig& config, const std::filesystem::path& folder, ModelInfo info) {
    return std::visit(Loader{folder, std::move(info), device, few_shapes,
                             config.batching.max_batch == 0, translations},
                      config.kind);
  };
}

}  // namespace millrace::models
