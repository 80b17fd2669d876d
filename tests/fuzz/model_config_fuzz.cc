// Looks for texts of model.pbtxt that crash the parser, or that it takes or refuses otherwise than
// its header says.
//
// usage: model_config_fuzz [-max_total_time=60] tests/fuzz/seeds/model_config

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "models/repository/model_config.h"
#include "tests/fuzz/require.h"

namespace millrace::models {
namespace {

void TryConfig(std::string_view text) {
  const absl::StatusOr<ModelConfig> config = ParseModelConfig(text, "model.pbtxt");
  if (!config.ok()) {
    Require(absl::IsInvalidArgument(config.status()), "another error than InvalidArgument");
    Require(absl::StartsWith(config.status().message(), "model.pbtxt:"),
            "an error without a place");
    return;
  }
  Require(config->kind != nullptr && config->settings != nullptr, "a config without a kind");
  const ModelInfo info = MakeModelInfo(*config, "fuzzed", 1);
  Require(info.platform == config->kind->name, "the info names another kind");
  Require(info.batching.max_batch >= 1, "a batch of no request");
}

}  // namespace
}  // namespace millrace::models

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::models::TryConfig({reinterpret_cast<const char*>(data), size});
  return 0;
}
