#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/repository/model_config.h"

namespace millrace::models {

// Makes a model of a config whose files lie in the folder.
using ModelFactory = std::function<absl::StatusOr<std::unique_ptr<Model>>(
    const ModelConfig& config, const std::filesystem::path& folder, ModelInfo info)>;

// 1..128 letters, digits, '.', '_' and '-', not starting with '.': such a name cannot leave the
// repository.
absl::Status CheckModelName(std::string_view name);
// "" is the latest (nullopt); otherwise a whole number >= 1 in decimal.
absl::StatusOr<std::optional<int64_t>> ParseVersion(std::string_view version);

// A folder of models, <root>/<model>/<version>/model.pbtxt; versions are whole numbers and the
// highest is the latest. Other folders and files are ignored. Reads the disk on every call and
// keeps nothing, so that new models show up at once. Thread-safe.
class ModelRepository {
 public:
  struct Entry {
    std::string name;
    std::vector<int64_t> versions;  // ascending, at least one
  };
  struct Package {
    std::string name;
    int64_t version = 0;
    std::filesystem::path folder;
    ModelConfig config;
  };

  // `kinds`: those that a package may be of.
  ModelRepository(std::filesystem::path root, ModelFactory factory,
                  const ModelKinds& kinds = BuiltInKinds());

  const std::filesystem::path& root() const { return root_; }

  // OK when the root can be read and holds a model; otherwise the one line to tell the operator.
  absl::Status Check() const;
  // By name.
  absl::StatusOr<std::vector<Entry>> List() const;
  // The package with its config read and its files found, without loading it. A bad name is refused
  // before the disk is touched.
  absl::StatusOr<Package> Find(std::string_view name,
                               std::optional<int64_t> version = std::nullopt) const;
  // Find, then the factory. Slow: reads the weights.
  absl::StatusOr<std::unique_ptr<Model>> Load(std::string_view name,
                                              std::optional<int64_t> version = std::nullopt) const;

 private:
  const std::filesystem::path root_;
  const ModelFactory factory_;
  const ModelKinds kinds_;
};

}  // namespace millrace::models
