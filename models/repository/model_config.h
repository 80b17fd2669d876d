#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "models/core/model_kind.h"
#include "models/kinds.h"

namespace millrace::models {

// The file name of a model's config.
inline constexpr char kModelConfigFile[] = "model.pbtxt";
inline constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// The published model that a package is from. All are empty for a package that was not pulled.
struct ModelOrigin {
  std::string name;      // it was pulled by this one, such as "firefox/en-de"
  std::string revision;  // such as a commit or a version
  std::string date;      // such as "2026-11-24"
};

// The native form of model.pbtxt (schema: proto/millrace/config/v1/model.proto).
struct ModelConfig {
  std::string license;
  ModelOrigin origin;
  BatchPolicy batching = {.max_batch = 0};  // 0: the model's default
  const ModelKind* kind = nullptr;
  std::shared_ptr<const KindConfig> settings;  // the settings of the kind
};

// Returns what the config states about the model; the loader adds what only the weights contain.
ModelInfo MakeModelInfo(const ModelConfig& config, std::string name, int64_t version);

// Parses text format. Errors are InvalidArgument with one line for each: "<source>:<line>:<column>:
// <field>: <what, allowed>".
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text, std::string_view source,
                                             const ModelKinds& kinds = BuiltInKinds());
absl::StatusOr<ModelConfig> ReadModelConfig(const std::filesystem::path& file,
                                            const ModelKinds& kinds = BuiltInKinds());

}  // namespace millrace::models
