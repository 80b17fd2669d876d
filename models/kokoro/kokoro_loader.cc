#include <string>
#include <utility>

#include "models/kokoro/kokoro_kind.h"
#include "models/kokoro/kokoro_model.h"
#include "models/speech/speech_cache.h"

namespace millrace::kokoro {
namespace {

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const KokoroConfig&>(kind_config);
  KokoroOptions options;
  options.weights_file = context.folder / config.file;
  options.config_file = context.folder / config.config_file;
  options.lexicon_file = context.folder / config.lexicon_file;
  if (!config.user_lexicon_file.empty())
    options.user_lexicon_file = context.folder / config.user_lexicon_file;
  if (!config.japanese_words_file.empty())
    options.japanese_words_file = context.folder / config.japanese_words_file;
  if (!config.chinese_lexicon_file.empty())
    options.chinese_lexicon_file = context.folder / config.chinese_lexicon_file;
  options.language = config.language;
  options.voice = config.voice;
  for (const KokoroVoiceConfig& voice : config.voices) {
    options.voice_languages.push_back({voice.language, voice.name});
    for (const std::string& language : voice.default_for)
      options.default_voices.push_back({language, voice.name});
  }
  options.pauses = config.pauses;
  options.device = context.device;
  options.shapes = context.shapes;
  if (context.caches.speech != nullptr) options.cache = context.caches.speech->MakeForModel();
  // MPS compiles each batch size, so only CUDA gets batches by default.
  if (context.max_batch == 0 && context.device == runtime::DeviceType::kCuda)
    info.batching.max_batch = KokoroModel::kMaxBatch;
  return KokoroModel::Load(options, std::move(info));
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::kokoro
