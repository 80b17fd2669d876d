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

// Makes a model from a config whose files are in the folder.
using ModelFactory = std::function<absl::StatusOr<std::unique_ptr<Model>>(
    const ModelConfig& config, const std::filesystem::path& folder, ModelInfo info)>;

// Checks a name: 1..128 letters, digits, '.', '_' and '-', not starting with '.', so that it cannot
// leave the repository.
absl::Status CheckModelName(std::string_view name);
// Parses a version: "" is the latest (nullopt), otherwise a whole number >= 1 in decimal.
absl::StatusOr<std::optional<int64_t>> ParseVersion(std::string_view version);

// A folder of models, <root>/<model>/<version>/model.pbtxt. Versions are whole numbers, and the
// highest is the latest. Other folders and files are ignored. It reads the disk in every call, so
// that new models are found at once. Thread-safe.
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

  // kinds: the kinds that packages may have.
  ModelRepository(std::filesystem::path root, ModelFactory factory,
                  const ModelKinds& kinds = BuiltInKinds());

  const std::filesystem::path& root() const { return root_; }

  // Returns OK when the root can be read and contains a model; otherwise one line for the operator.
  absl::Status Check() const;
  // Returns all models, sorted by name.
  absl::StatusOr<std::vector<Entry>> List() const;
  // Reads the package's config and checks its files without loading it. An invalid name is rejected
  // before the disk is read.
  absl::StatusOr<Package> Find(std::string_view name,
                               std::optional<int64_t> version = std::nullopt) const;
  // Finds the package and calls the factory. Slow, because it reads the weights.
  absl::StatusOr<std::unique_ptr<Model>> Load(std::string_view name,
                                              std::optional<int64_t> version = std::nullopt) const;

 private:
  const std::filesystem::path root_;
  const ModelFactory factory_;
  const ModelKinds kinds_;
};

}  // namespace millrace::models
