#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/frontends/kserve/rest_codec.h"
#include "tests/unit/server/frontends/kserve/infer_fixture.h"

namespace millrace::server {

inline const models::ModelInfo kPairModel =
    ModelWith({Spec("A", DataType::kFp32, {-1}), Spec("B", DataType::kInt8, {2, -1})});

inline models::ModelInfo ModelOf(DataType type, std::vector<int64_t> shape) {
  return ModelWith({Spec("X", type, std::move(shape))});
}

inline absl::StatusOr<RestInferRequest> DecodeJson(const std::string& body,
                                                   const models::ModelInfo& model) {
  return DecodeRestInfer(body, std::nullopt, model);
}

// A JSON that is followed by binary data.
inline absl::StatusOr<RestInferRequest> DecodeBinary(const std::string& text,
                                                     const std::string& data,
                                                     const models::ModelInfo& model) {
  return DecodeRestInfer(text + data, std::to_string(text.size()), model);
}

// The only input, with members that a test names.
inline std::string RequestWith(const std::string& members) {
  return "{\"inputs\":[{" + members + "}]}";
}

// The only input, with these data.
inline std::string RequestFor(DataType type, const std::string& shape, const std::string& data) {
  return RequestWith("\"name\":\"X\",\"datatype\":\"" + std::string(ToString(type)) +
                     "\",\"shape\":" + shape + ",\"data\":" + data);
}

}  // namespace millrace::server
