#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/espeak_options.h"
#include "models/core/model.h"
#include "models/core/model_info.h"
#include "models/core/shape_policy.h"
#include "mps_runtime/stream.h"

namespace google::protobuf {
class Message;
}

namespace millrace::speech {
class SpeechCache;
}
namespace millrace::translation {
class TranslationCache;
}

// A kind of model is a folder and a namespace in models/. It defines a ModelKind and a ModelLoader,
// and has a line in models/kinds.inc.
namespace millrace::models {

class ConfigSection;

// A file that a model's config names.
struct PackageFile {
  std::string name;
  std::string_view field;  // the field of the config that names it
  uint64_t max_bytes = 0;  // larger files are rejected before they are read
};

// The native form of a kind's message in model.pbtxt, with checked values and defaults. File names
// are plain names of files in the model's folder. Immutable, so thread-safe.
class KindConfig {
 public:
  virtual ~KindConfig() = default;

  // The files that the model needs.
  const std::vector<PackageFile>& files() const { return files_; }
  void AddFile(PackageFile file) { files_.push_back(std::move(file)); }
  // Returns what the config states about the model, which also tells its task. The loader adds what
  // only the weights contain.
  virtual ModelDetails Details() const = 0;

 private:
  std::vector<PackageFile> files_;
};

// Reads the configs of a kind. Needs no libtorch, so that clients can list a repository.
struct ModelKind {
  std::string_view name;  // also its field in model.pbtxt and its platform
  // Reports errors to the section; the result is then ignored.
  std::unique_ptr<const KindConfig> (*parse)(const ConfigSection& section) = nullptr;
};

// The kinds that a model.pbtxt may have. `schema` is an instance of its message, whose oneof `kind`
// has a field for each of them, with a string `license` and a millrace.config.v1.Batching
// `batching`. What it points to must live as long as the process.
struct ModelKinds {
  const google::protobuf::Message* schema = nullptr;
  std::span<const ModelKind* const> kinds;
};

// The caches that the models of a process share and that must outlive them; null: nothing is
// cached. Also whether packed weights are kept in a file beside each model's, see PackFile.
struct ModelCaches {
  translation::TranslationCache* translations = nullptr;
  speech::SpeechCache* speech = nullptr;
  bool packed_weights = false;
};

// The arguments of a loader, beside the config.
struct LoadContext {
  std::filesystem::path folder;
  runtime::DeviceType device = runtime::DeviceType::kCpu;
  ShapePolicy shapes = ShapePolicy::kExact;
  size_t max_batch = 0;  // set by the operator; 0: not set
  ModelCaches caches = {};
  EspeakOptions espeak = {};
};

// Loads models of a kind.
struct ModelLoader {
  const ModelKind* kind = nullptr;
  // The config must be of the kind, and its files must exist.
  absl::StatusOr<std::unique_ptr<Model>> (*load)(const KindConfig& config,
                                                 const LoadContext& context,
                                                 ModelInfo info) = nullptr;
};

}  // namespace millrace::models
