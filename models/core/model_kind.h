#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/core/model_info.h"
#include "models/core/shape_policy.h"
#include "mps_runtime/stream.h"

namespace google::protobuf {
class Message;
}

namespace millrace::translation {
class TranslationCache;
}

// A kind of model is a folder and a namespace of models/. It defines what is declared here, and has
// a line in models/kinds.inc.
namespace millrace::models {

class ConfigSection;

// A file that a config names.
struct PackageFile {
  std::string name;
  std::string_view field;  // that names it
  uint64_t max_bytes = 0;  // larger ones are refused before they are read
};

// The native form of a kind's message in model.pbtxt: values checked, defaults filled in. File
// names are plain names of files in the model's own folder. Immutable, so thread-safe.
class KindConfig {
 public:
  virtual ~KindConfig() = default;

  // The files that the model needs.
  virtual std::vector<PackageFile> Files() const = 0;
  // Returns what the config tells of the model, without its name, version, platform, task, license
  // and batching. The loader adds what only the weights know.
  virtual ModelInfo Info() const = 0;
};

// Reads the configs of a kind. Needs no libtorch, so that clients can list a repository.
struct ModelKind {
  std::string_view name;  // of its field in model.pbtxt, and of its platform
  Task task = Task::kInfer;
  // Reports mistakes to the section; what it returns then is not used.
  std::unique_ptr<const KindConfig> (*parse)(const ConfigSection& section) = nullptr;
};

// The kinds of which a model.pbtxt may be. `schema` is an instance of its message, whose oneof
// `kind` has a field for each of them, with a string `license` and a millrace.config.v1.Batching
// `batching`. Points to what lives as long as the process.
struct ModelKinds {
  const google::protobuf::Message* schema = nullptr;
  std::span<const ModelKind* const> kinds;
};

// The arguments of a loader, beside the config.
struct LoadContext {
  std::filesystem::path folder;
  runtime::DeviceType device = runtime::DeviceType::kCpu;
  ShapePolicy shapes = ShapePolicy::kExact;
  size_t max_batch = 0;                                   // as the operator set it; 0: not at all
  translation::TranslationCache* translations = nullptr;  // null: translations are not kept
};

// Loads models of a kind.
struct ModelLoader {
  const ModelKind* kind = nullptr;
  // The config is of the kind, and its files are there.
  absl::StatusOr<std::unique_ptr<Model>> (*load)(const KindConfig& config,
                                                 const LoadContext& context,
                                                 ModelInfo info) = nullptr;
};

}  // namespace millrace::models
