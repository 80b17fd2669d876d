#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "nlohmann/json.hpp"
#include "server/frontends/kserve/json_elements.h"

namespace millrace::server {

// The contents of the JSON of an inference over HTTP.
struct RestInferHead {
  struct Input {
    int64_t elements = 0;  // elements that its shape needs
    bool has_data = false;
    std::optional<uint64_t> binary_bytes;  // the size of its data behind the JSON
  };

  std::string id;
  uint64_t timeout_us = 0;   // 0: none
  models::InferInput input;  // with the data that came in the JSON
  std::vector<Input> inputs;
  bool binary_outputs = false;  // where an output does not say
  std::vector<std::optional<bool>> binary_output;
  std::vector<std::string> ignored;  // members that have no effect
};

// Reads that JSON, and checks its tensors for a model. Elements become a tensor's data as they are
// read, so that no tree of them is kept: it would take many times as much memory as the body. Where
// a tensor's data come before its name, type and shape, the JSON is read a second time for them.
//
// Members that are not known are ignored; null stands for a member that is missing.
absl::Status ReadRestInfer(std::string_view json, const models::ModelInfo& model,
                           RestInferHead& head);

}  // namespace millrace::server
