#pragma once

#include <string>

#include "inference/grpc_service.pb.h"

namespace millrace::server {

// A request for an InferInfo model.
inline inference::ModelInferRequest InferRequest(const std::string& model) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  auto& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(4);
  request.add_raw_input_contents("0123456789abcdef");
  return request;
}

}  // namespace millrace::server
