#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/frontends/kserve/infer_codec.h"

namespace millrace::server {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using models::DataType;

inline models::TensorSpec Spec(std::string name, DataType type, std::vector<int64_t> shape) {
  return {std::move(name), type, std::move(shape)};
}

inline models::ModelInfo ModelWith(std::vector<models::TensorSpec> inputs) {
  models::ModelInfo info;
  info.name = "m";
  info.infer().inputs = std::move(inputs);
  info.infer().outputs = {Spec("OUT", DataType::kFp32, {-1})};
  return info;
}

inline ModelInferRequest::InferInputTensor& AddInput(ModelInferRequest& request,
                                                     const std::string& name,
                                                     const std::string& datatype,
                                                     const std::vector<int64_t>& shape) {
  auto& input = *request.add_inputs();
  input.set_name(name);
  input.set_datatype(datatype);
  for (const int64_t dim : shape) input.add_shape(dim);
  return input;
}

// The bytes of the elements as they lie in memory.
template <typename Element>
std::string Bytes(const std::vector<Element>& elements) {
  std::string bytes(elements.size() * sizeof(Element), '\0');
  std::memcpy(bytes.data(), elements.data(), bytes.size());
  return bytes;
}

inline void ExpectInvalid(const absl::Status& status, std::string_view message) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  EXPECT_EQ(std::string_view(status.message().data(), status.message().size()), message);
}

}  // namespace millrace::server
