#include <utility>

#include "models/bergamot/bergamot_kind.h"
#include "models/bergamot/bergamot_model.h"
#include "models/translation/translation_cache.h"

namespace millrace::bergamot {
namespace {

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const BergamotConfig&>(kind_config);
  BergamotOptions options;
  options.weights_file = context.folder / config.file;
  options.vocabulary_file = context.folder / config.vocabulary_file;
  if (!config.target_vocabulary_file.empty())
    options.target_vocabulary_file = context.folder / config.target_vocabulary_file;
  options.max_length_factor = config.max_length_factor;
  options.max_source_tokens = static_cast<size_t>(config.max_source_tokens);
  // The int8 engine runs on the CPU only.
  if (context.device != runtime::DeviceType::kCpu) options.engine = EngineKind::kAten;
  options.device = context.device;
  options.shapes = context.shapes;
  if (context.caches.translations != nullptr)
    options.cache = context.caches.translations->MakeForModel();
  return BergamotModel::Load(options, std::move(info));
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::bergamot
