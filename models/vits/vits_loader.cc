#include <utility>

#include "models/speech/speech_cache.h"
#include "models/vits/vits_kind.h"
#include "models/vits/vits_model.h"

namespace millrace::vits {
namespace {

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const VitsConfig&>(kind_config);
  VitsOptions options;
  options.weights_file = context.folder / config.file;
  options.voice_file = context.folder / config.voice_file;
  options.language = config.language;
  options.voice = config.voice;
  options.gain_db = config.gain_db;
  options.pauses = config.pauses;
  options.device = context.device;
  options.shapes = context.shapes;
  if (context.caches.speech != nullptr) options.cache = context.caches.speech->MakeForModel();
  return VitsModel::Load(options, std::move(info));
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::vits
