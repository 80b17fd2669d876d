#include "server/frontends/kserve/infer_tensors.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/kserve/element_type.h"
#include "server/json/ignored_members.h"

namespace millrace::server {
namespace {

using models::DataType;
using models::Tensor;
using models::TensorSpec;

constexpr size_t kMaxShown = 64;  // characters of a name that a message shows

absl::Status CheckShape(size_t index, const Tensor& tensor, const TensorSpec& spec,
                        int64_t& elements) {
  bool fits = tensor.shape.size() == spec.shape.size();
  for (size_t i = 0; fits && i < spec.shape.size(); ++i) {
    fits = tensor.shape[i] >= 0 && (spec.shape[i] < 0 || tensor.shape[i] == spec.shape[i]);
  }
  const auto count = models::ElementCount(tensor.shape);
  if (!fits || !count) {
    return InvalidArgument(InputName(index), ".shape: is ", ShapeText(tensor.shape),
                           "; the model takes ", ShapeText(spec.shape), " (-1: any size >= 0)");
  }
  elements = *count;
  return absl::OkStatus();
}

// Checks BYTES elements, which carry their own lengths: these must add up to the size.
absl::Status CheckBytesLayout(std::string_view where, const std::string& data, int64_t elements) {
  size_t at = 0;
  int64_t found = 0;
  while (at < data.size()) {
    uint32_t size = 0;
    if (data.size() - at < sizeof(size))
      return InvalidArgument(where, ": ends inside the length of element ", found);
    std::memcpy(&size, data.data() + at, sizeof(size));
    at += sizeof(size);
    if (data.size() - at < size) return InvalidArgument(where, ": ends inside element ", found);
    at += size;
    ++found;
  }
  if (found != elements)
    return InvalidArgument(where, ": has ", found, " elements; the shape needs ", elements);
  return absl::OkStatus();
}

std::string SpecNames(const std::vector<TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ", [](std::string* out, const TensorSpec& spec) {
    absl::StrAppend(out, spec.name);
  });
}

const TensorSpec* FindSpec(const std::vector<TensorSpec>& specs, std::string_view name) {
  for (const TensorSpec& spec : specs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace

absl::Status CheckInferId(std::string_view id) {
  if (id.size() <= kMaxInferIdBytes) return absl::OkStatus();
  return InvalidArgument("id: has ", id.size(), " bytes; at most ", kMaxInferIdBytes,
                         " are allowed");
}

std::string InputName(size_t index) { return StrCat("inputs[", index, "]"); }

absl::Status IgnoreInferParameter(std::string_view name, absl::FunctionRef<std::string()> where,
                                  std::vector<std::string>& ignored) {
  constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
      {"sequence_id", "is not supported; no model here keeps a state between requests"},
      {"classification", "is not supported; ask for the output and sort it"},
      {"shared_memory_region", "is not supported; send the data with the request"}};
  for (const auto& [refused, why] : kRefused) {
    if (name == refused) return InvalidArgument(where(), ": ", why);
  }
  AddIgnored(where(), ignored);
  return absl::OkStatus();
}

std::optional<Duration> InferTimeout(uint64_t microseconds) {
  if (microseconds == 0) return std::nullopt;
  // Bounded, so that no sum overflows.
  constexpr std::chrono::microseconds kLongest = std::chrono::hours(24);
  return std::chrono::microseconds(std::min(microseconds, static_cast<uint64_t>(kLongest.count())));
}

absl::Status CheckInputCount(size_t inputs, const models::ModelInfo& model) {
  const std::vector<TensorSpec>& specs = model.infer().inputs;
  if (inputs == specs.size()) return absl::OkStatus();
  return InvalidArgument("inputs: has ", inputs, " tensors; model '", model.name, "' takes ",
                         specs.size(), ": ", SpecNames(specs));
}

absl::Status AddInputTensor(size_t index, std::string_view name, std::string_view datatype,
                            std::vector<int64_t> shape, const models::ModelInfo& model,
                            models::InferInput& input, int64_t& elements) {
  const TensorSpec* spec = FindSpec(model.infer().inputs, name);
  if (spec == nullptr) {
    return InvalidArgument(InputName(index), ".name: '", name.substr(0, kMaxShown),
                           "' is not an input of model '", model.name,
                           "'; its inputs: ", SpecNames(model.infer().inputs));
  }
  for (const Tensor& earlier : input.inputs) {
    if (earlier.name == spec->name)
      return InvalidArgument(InputName(index), ".name: '", spec->name, "' was given before");
  }
  if (datatype != ToString(spec->type)) {
    return InvalidArgument(InputName(index), ".datatype: '", datatype.substr(0, kMaxShown),
                           "' is not what input '", spec->name, "' takes: ", ToString(spec->type));
  }
  Tensor& tensor = input.inputs.emplace_back();
  tensor.name = spec->name;
  tensor.type = spec->type;
  tensor.shape = std::move(shape);
  return CheckShape(index, tensor, *spec, elements);
}

absl::Status CheckTensorData(const Tensor& tensor, int64_t elements,
                             absl::FunctionRef<std::string()> where) {
  if (tensor.type == DataType::kBytes) return CheckBytesLayout(where(), tensor.data, elements);
  const size_t element_size = models::ElementSize(tensor.type);
  // Divides, because elements * size may overflow.
  if (tensor.data.size() % element_size == 0 &&
      tensor.data.size() / element_size == static_cast<uint64_t>(elements)) {
    return absl::OkStatus();
  }
  return InvalidArgument(where(), ": has ", tensor.data.size(), " bytes; ", ToString(tensor.type),
                         ShapeText(tensor.shape), " needs ", elements, " elements of ",
                         element_size, " bytes");
}

absl::Status AddRequestedOutput(size_t index, std::string_view name, const models::ModelInfo& model,
                                models::InferInput& input) {
  if (FindSpec(model.infer().outputs, name) == nullptr) {
    return InvalidArgument("outputs[", index, "].name: '", name.substr(0, kMaxShown),
                           "' is not an output of model '", model.name,
                           "'; its outputs: ", SpecNames(model.infer().outputs));
  }
  // Each would be a part of the reply.
  if (std::ranges::find(input.requested_outputs, name) != input.requested_outputs.end())
    return InvalidArgument("outputs[", index, "].name: '", name, "' was given before");
  input.requested_outputs.emplace_back(name);
  return absl::OkStatus();
}

void AppendBytesElement(std::string_view element, std::string& data) {
  const auto size = static_cast<uint32_t>(element.size());
  data.append(reinterpret_cast<const char*>(&size), sizeof(size));
  data.append(element);
}

std::string ElementForm(DataType type) {
  std::string form = type == DataType::kBytes ? "a string" : "a number";
  WithElement(type, [&form]<typename Element>(Element) {
    using Limits = std::numeric_limits<Element>;
    using Shown = std::conditional_t<std::is_signed_v<Element>, int64_t, uint64_t>;
    if constexpr (std::is_same_v<Element, bool>) {
      form = "true or false";
    } else if constexpr (std::is_floating_point_v<Element>) {
      form = StrCat("a number of ", Limits::lowest(), "..", Limits::max());
    } else {
      form = StrCat("a whole number of ", Shown{Limits::min()}, "..", Shown{Limits::max()});
    }
  });
  return form;
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  return StrCat("[", absl::StrJoin(shape, ","), "]");
}

}  // namespace millrace::server
