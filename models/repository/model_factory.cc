#include "models/repository/model_factory.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace millrace::models {

ModelFactory MakeModelFactory(runtime::DeviceType device, ShapePolicy shapes,
                              const ModelCaches& caches,
                              std::span<const ModelLoader* const> loaders) {
  if (device == runtime::DeviceType::kCpu) shapes = ShapePolicy::kExact;
  return [=](const ModelConfig& config, const std::filesystem::path& folder,
             ModelInfo info) -> absl::StatusOr<std::unique_ptr<Model>> {
    const auto loader = std::find_if(loaders.begin(), loaders.end(), [&](const ModelLoader* one) {
      return one->kind == config.kind;
    });
    if (loader == loaders.end()) {
      return absl::UnimplementedError(
          absl::StrCat("models of the kind ", std::string(config.kind->name), " cannot be loaded"));
    }
    const LoadContext context = {.folder = folder,
                                 .device = device,
                                 .shapes = shapes,
                                 .max_batch = config.batching.max_batch,
                                 .caches = caches};
    return (*loader)->load(*config.settings, context, std::move(info));
  };
}

}  // namespace millrace::models
