#include <utility>

#include "models/torchscript/torchscript_kind.h"
#include "models/torchscript/torchscript_model.h"

namespace millrace::torchscript {
namespace {

absl::StatusOr<std::unique_ptr<models::Model>> Load(const models::KindConfig& kind_config,
                                                    const models::LoadContext& context,
                                                    models::ModelInfo info) {
  const auto& config = static_cast<const TorchScriptConfig&>(kind_config);
  return LoadTorchScript({.file = context.folder / config.file,
                          .stack = config.stack,
                          .shapes = context.shapes,
                          .warmup_sizes = config.warmup_sizes,
                          .device = context.device},
                         std::move(info));
}

}  // namespace

const models::ModelLoader kLoader = {&kKind, &Load};

}  // namespace millrace::torchscript
