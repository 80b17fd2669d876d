#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/model_kind.h"

namespace millrace::torchscript {

class TorchScriptConfig final : public models::KindConfig {
 public:
  models::ModelDetails Details() const override;

  std::string file;
  std::vector<models::TensorSpec> inputs;
  std::vector<models::TensorSpec> outputs;
  bool stack = false;
  std::vector<int64_t> warmup_sizes = {};  // one for each -1 of the inputs; empty: 1
};

extern const models::ModelKind kKind;
extern const models::ModelLoader kLoader;

}  // namespace millrace::torchscript
