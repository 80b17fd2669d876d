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

// The name of a model's config in its folder.
inline constexpr char kModelConfigFile[] = "model.pbtxt";
inline constexpr uint64_t kMaxConfigBytes = uint64_t{1} << 20;

// The native form of model.pbtxt (schema: proto/millrace/config/v1/model.proto).
struct ModelConfig {
  std::string license;
  BatchPolicy batching = {.max_batch = 0};  // 0: what suits the model
  const ModelKind* kind = nullptr;
  std::shared_ptr<const KindConfig> settings;  // of the kind
};

// What the config tells of the model; the loader adds what only the weights know.
ModelInfo MakeModelInfo(const ModelConfig& config, std::string name, int64_t version);

// Parses text format. Errors are InvalidArgument, one line per mistake: "<source>:<line>:<column>:
// <field>: <what, allowed>".
absl::StatusOr<ModelConfig> ParseModelConfig(std::string_view text, std::string_view source,
                                             const ModelKinds& kinds = BuiltInKinds());
absl::StatusOr<ModelConfig> ReadModelConfig(const std::filesystem::path& file,
                                            const ModelKinds& kinds = BuiltInKinds());

}  // namespace millrace::models
