#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"

namespace millrace::server {

// These functions convert KServe v2's inference over HTTP to its native form and back, with
// Triton's binary extension: JSON, and behind it the bytes of those tensors that are not in it.
// Errors are INVALID_ARGUMENT with the member, the value and what is allowed.

// The form of the answer.
struct RestInferForm {
  std::string id;               // empty: none
  bool binary_outputs = false;  // outputs come as binary data, where they are not named
  std::vector<std::pair<std::string, bool>> binary_output = {};
  std::vector<std::string> ignored = {};  // members of the request that had no effect

  bool IsBinary(std::string_view output) const;
};

struct RestInferRequest {
  models::InferInput input;
  uint64_t timeout_us = 0;  // 0: none
  RestInferForm form;
};

// The length of the JSON in a header of a request or of an answer.
inline constexpr char kJsonLengthHeader[] = "Inference-Header-Content-Length";

// json_length: what that header says; nothing: all of the body is JSON. 0: there is none, and the
// body is the data of the model's only input, of at most one free dimension; BYTES of one element
// come without its length.
absl::StatusOr<RestInferRequest> DecodeRestInfer(std::string body,
                                                 const std::optional<std::string>& json_length,
                                                 const models::ModelInfo& model);

struct RestInferAnswer {
  std::string body;
  std::optional<size_t> json_length;  // where binary data are behind it
};

absl::StatusOr<RestInferAnswer> EncodeRestInfer(const models::InferOutput& output,
                                                const RestInferForm& form,
                                                const models::ModelInfo& model);

}  // namespace millrace::server
