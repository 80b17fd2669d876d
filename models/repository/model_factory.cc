#include "models/repository/model_factory.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "models/core/strings.h"
#include "models/kernels/conv_kernels.h"
#include "models/kernels/instruction_set.h"
#include "models/kernels/narrow_kernels.h"
#include "models/kernels/pack_store.h"
#include "models/weights/pack_file.h"
#include "mps_runtime/base/this_program.h"
#include "mps_runtime/device_traits.h"

namespace millrace::models {
namespace {

// Tells one state of a file from others. Copies and packages may keep the times of writing, but not
// the inode and the time of its change. A file that cannot be read has no state, and its model does
// not load.
std::string StateOf(const std::filesystem::path& path) {
  struct stat info = {};
  if (stat(path.c_str(), &info) != 0) return "";
  return StrCat(path.filename().string(), " ", info.st_size, " ", info.st_mtime, " ", info.st_ctime,
                " ", info.st_ino, "\n");
}

// Returns all that a model's packed weights depend on: its files, the program and its kernels.
// Empty if the program is unknown: another one may pack in another way.
std::string PackKey(const ModelConfig& config, const std::filesystem::path& folder) {
  std::string key = StateOf(ThisProgram());
  if (key.empty()) return key;
  key += StateOf(folder / kModelConfigFile);
  for (const PackageFile& file : config.settings->files()) key += StateOf(folder / file.name);
  return StrCat(key, kernels::GetConvKernels().name, " ",
                kernels::SupportedInt8Kernels().front()->name, " ",
                kernels::SupportedBfloatKernels().front()->name);
}

}  // namespace

ModelFactory MakeModelFactory(runtime::DeviceType device, ShapePolicy shapes,
                              const ModelCaches& caches,
                              std::span<const ModelLoader* const> loaders) {
  if (!runtime::TraitsOf(device).keeps_shapes) shapes = ShapePolicy::kExact;
  return [=](const ModelConfig& config, const std::filesystem::path& folder,
             ModelInfo info) -> absl::StatusOr<std::unique_ptr<Model>> {
    const auto loader = std::find_if(loaders.begin(), loaders.end(), [&](const ModelLoader* one) {
      return one->kind == config.kind;
    });
    if (loader == loaders.end()) {
      return absl::UnimplementedError(
          StrCat("models of the kind ", std::string(config.kind->name), " cannot be loaded"));
    }
    const LoadContext context = {.folder = folder,
                                 .device = device,
                                 .shapes = shapes,
                                 .max_batch = config.batching.max_batch,
                                 .caches = caches};
    std::optional<PackFile> packs;
    if (caches.packed_weights && device == runtime::DeviceType::kCpu) {
      const char* const set = kernels::ToString(kernels::BestInstructionSet());
      std::string key = PackKey(config, folder);
      if (!key.empty()) packs.emplace(folder / StrCat("packed-", set, ".weights"), std::move(key));
    }
    const kernels::ScopedPackStore scope(packs ? &*packs : nullptr);
    auto model = (*loader)->load(*config.settings, context, std::move(info));
    if (packs && model.ok()) packs->Commit();
    return model;
  };
}

}  // namespace millrace::models
