#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "mps_runtime/base/clock.h"

namespace millrace::server {

// The rules for a request of KServe v2, over gRPC and over HTTP alike. Errors are INVALID_ARGUMENT
// with the field, the value and what is allowed; long names are cut.

inline constexpr size_t kMaxInferIdBytes = 128;
absl::Status CheckInferId(std::string_view id);

// Adds a parameter of a request, an input or an output that has no effect to `ignored`, as `where`
// names it. Those of Triton's that would change the answer are refused.
absl::Status IgnoreInferParameter(std::string_view name, absl::FunctionRef<std::string()> where,
                                  std::vector<std::string>& ignored);

// Returns the time that Triton's parameter "timeout" gives a request; 0: none is given.
std::optional<Duration> InferTimeout(uint64_t microseconds);

// Names an input in an error message.
std::string InputName(size_t index);

absl::Status CheckInputCount(size_t inputs, const models::ModelInfo& model);
// Adds a tensor that has no data yet, if it is one of the model's that is not there yet, of its
// type and of a shape that it takes. elements: how many the shape needs.
absl::Status AddInputTensor(size_t index, std::string_view name, std::string_view datatype,
                            std::vector<int64_t> shape, const models::ModelInfo& model,
                            models::InferInput& input, int64_t& elements);
// Checks that the tensor's data are so many elements. `where` names the data in an error message.
absl::Status CheckTensorData(const models::Tensor& tensor, int64_t elements,
                             absl::FunctionRef<std::string()> where);
// Adds an output that the client wants, if it is one of the model's that is not there yet.
absl::Status AddRequestedOutput(size_t index, std::string_view name, const models::ModelInfo& model,
                                models::InferInput& input);

// Appends an element of BYTES: its length and its bytes.
void AppendBytesElement(std::string_view element, std::string& data);

// Returns what an element of the type is, in words for an error message: "a whole number of
// -128..127".
std::string ElementForm(models::DataType type);

// As a message shows it: "[2,3]".
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace millrace::server
