#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/model.h"
#include "models/repository/model_config.h"
#include "models/repository/model_sources.h"

namespace millrace::models {

// Makes a model from a config whose files are in the folder.
using ModelFactory = std::function<absl::StatusOr<std::unique_ptr<Model>>(
    const ModelConfig& config, const std::filesystem::path& folder, ModelInfo info)>;

// The models of some folders. One is an index, <folder>/<model>/<version>/model.pbtxt, or the
// folder of one model, <folder>/<version>/model.pbtxt or, of version 1, <folder>/model.pbtxt, as a
// cluster mounts it. Versions are whole numbers, and the highest is the latest. Other folders and
// files are ignored, and Ignored says why. It writes nothing, and reads the disk in every call, so
// that new models are found at once. Thread-safe.
//
// A call that takes a name reads the folders of all models, so what handles each of them lists once
// and goes on with the entries.
class ModelRepository {
 public:
  struct Entry {
    std::string name;
    std::vector<int64_t> versions;  // ascending, at least one
    std::filesystem::path folder;   // the model's
    std::filesystem::path source;   // the folder of the repository that it was found in
    bool is_package = false;        // the folder itself is that of the only version
  };
  struct Package {
    std::string name;
    int64_t version = 0;
    std::filesystem::path folder;
    ModelConfig config;
  };

  // sources: folders as ParseModelSources reads them; every call fails if it does not. kinds: the
  // kinds that packages may have.
  ModelRepository(std::string sources, ModelFactory factory,
                  const ModelKinds& kinds = BuiltInKinds());

  const std::string& sources() const { return text_; }

  // Returns OK when each folder can be read and contains a model, and none has the name of another;
  // otherwise one line for the operator.
  absl::Status Check() const;
  // Returns all models, sorted by name.
  absl::StatusOr<std::vector<Entry>> List() const;
  // Returns a line for the operator for each folder that looks like a model and is none.
  std::vector<std::string> Ignored() const;
  // Reads the package's config and checks its files without loading it. An invalid name is rejected
  // before the disk is read.
  absl::StatusOr<Package> Find(std::string_view name,
                               std::optional<int64_t> version = std::nullopt) const;
  // Does the same for a model that is listed, and reads no other's folder.
  absl::StatusOr<Package> Find(const Entry& entry,
                               std::optional<int64_t> version = std::nullopt) const;
  // Finds the package and calls the factory. Slow, because it reads the weights.
  absl::StatusOr<std::unique_ptr<Model>> Load(std::string_view name,
                                              std::optional<int64_t> version = std::nullopt) const;
  // Calls the factory for a package that was found.
  absl::StatusOr<std::unique_ptr<Model>> Load(const Package& package) const;

 private:
  using Entries = std::map<std::string, Entry>;  // by name

  // Returns the models of a source; there may be none.
  static absl::StatusOr<Entries> EntriesIn(const ModelSource& source);
  absl::StatusOr<Entries> AllEntries() const;
  // Returns the entry of a model; NOT_FOUND if no source has it. A folder that cannot be read, such
  // as a mount that has gone, is an error only where no other has the model.
  absl::StatusOr<Entry> EntryOf(const std::string& name) const;

  const std::string text_;
  const absl::StatusOr<std::vector<ModelSource>> sources_;
  const ModelFactory factory_;
  const ModelKinds kinds_;
};

}  // namespace millrace::models
