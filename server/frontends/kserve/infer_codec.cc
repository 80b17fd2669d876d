#include "server/frontends/kserve/infer_codec.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_join.h"
#include "google/protobuf/arena.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/message_codec.h"

namespace millrace::server {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using models::DataType;
using models::Tensor;
using models::TensorSpec;

constexpr size_t kMaxShown = 64;  // characters of a name that a message shows
constexpr size_t kMaxIdBytes = 128;

// A message of a few small tensors is allocated on the stack.
class SmallArena {
 public:
  template <typename Message>
  Message& Create() {
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  alignas(std::max_align_t) char bytes_[4096];
  google::protobuf::Arena arena_{bytes_, sizeof(bytes_)};
};

std::string Shape(const std::vector<int64_t>& shape) {
  return StrCat("[", absl::StrJoin(shape, ","), "]");
}

template <typename... Parts>
absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(StrCat(parts...));
}

// Appends the elements as `Element`s. Returns the index of one that does not fit, or -1.
template <typename Element, typename Values>
int64_t AppendAs(const Values& values, std::string& data) {
  data.resize(static_cast<size_t>(values.size()) * sizeof(Element));
  char* out = data.data();
  for (int i = 0; i < values.size(); ++i) {
    const auto value = values.Get(i);
    const auto element = static_cast<Element>(value);
    if constexpr (std::numeric_limits<Element>::is_integer) {
      if (static_cast<decltype(value)>(element) != value) return i;
    }
    std::memcpy(out, &element, sizeof(element));
    out += sizeof(element);
  }
  return -1;
}

struct Contents {
  const char* field;     // the list field that the datatype uses
  int size;              // number of its elements
  int64_t does_not_fit;  // index of an element outside the type's range, or -1
};

// Moves the list for the datatype into data.
Contents TakeContents(const InferTensorContents& contents, DataType type, std::string& data) {
  const auto take = [&]<typename Element>(Element, const char* field, const auto& values) {
    return Contents{field, values.size(), AppendAs<Element>(values, data)};
  };
  switch (type) {
    case DataType::kBool:
      return take(uint8_t{}, "bool_contents", contents.bool_contents());
    case DataType::kInt8:
      return take(int8_t{}, "int_contents", contents.int_contents());
    case DataType::kInt16:
      return take(int16_t{}, "int_contents", contents.int_contents());
    case DataType::kInt32:
      return take(int32_t{}, "int_contents", contents.int_contents());
    case DataType::kInt64:
      return take(int64_t{}, "int64_contents", contents.int64_contents());
    case DataType::kUint8:
      return take(uint8_t{}, "uint_contents", contents.uint_contents());
    case DataType::kUint16:
      return take(uint16_t{}, "uint_contents", contents.uint_contents());
    case DataType::kUint32:
      return take(uint32_t{}, "uint_contents", contents.uint_contents());
    case DataType::kUint64:
      return take(uint64_t{}, "uint64_contents", contents.uint64_contents());
    case DataType::kFp32:
      return take(float{}, "fp32_contents", contents.fp32_contents());
    case DataType::kFp64:
      return take(double{}, "fp64_contents", contents.fp64_contents());
    case DataType::kBytes:
      for (const std::string& element : contents.bytes_contents()) {
        const auto size = static_cast<uint32_t>(element.size());
        data.append(reinterpret_cast<const char*>(&size), sizeof(size));
        data.append(element);
      }
      return {"bytes_contents", contents.bytes_contents_size(), -1};
    case DataType::kFp16:
    case DataType::kBf16:
      break;
  }
  return {"raw_input_contents", 0, -1};
}

int ListsInUse(const InferTensorContents& contents) {
  return !contents.bool_contents().empty() + !contents.int_contents().empty() +
         !contents.int64_contents().empty() + !contents.uint_contents().empty() +
         !contents.uint64_contents().empty() + !contents.fp32_contents().empty() +
         !contents.fp64_contents().empty() + !contents.bytes_contents().empty();
}

// Names an input in an error message.
std::string InputName(int index) { return StrCat("inputs[", index, "]"); }

absl::Status CheckShape(int index, const Tensor& tensor, const TensorSpec& spec,
                        int64_t& elements) {
  bool fits = tensor.shape.size() == spec.shape.size();
  for (size_t i = 0; fits && i < spec.shape.size(); ++i) {
    fits = tensor.shape[i] >= 0 && (spec.shape[i] < 0 || tensor.shape[i] == spec.shape[i]);
  }
  const auto count = models::ElementCount(tensor.shape);
  if (!fits || !count) {
    return Invalid(InputName(index), ".shape: is ", Shape(tensor.shape), "; the model takes ",
                   Shape(spec.shape), " (-1: any size >= 0)");
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
      return Invalid(where, ": ends inside the length of element ", found);
    std::memcpy(&size, data.data() + at, sizeof(size));
    at += sizeof(size);
    if (data.size() - at < size) return Invalid(where, ": ends inside element ", found);
    at += size;
    ++found;
  }
  if (found != elements)
    return Invalid(where, ": has ", found, " elements; the shape needs ", elements);
  return absl::OkStatus();
}

absl::Status TakeData(ModelInferRequest& request, int index, int64_t elements, Tensor& tensor) {
  const InferTensorContents& contents = request.inputs(index).contents();
  const size_t element_size = models::ElementSize(tensor.type);
  if (!request.raw_input_contents().empty()) {
    if (ListsInUse(contents) != 0)
      return Invalid(InputName(index), ".contents: must be empty when raw_input_contents is used");
    tensor.data = std::move(*request.mutable_raw_input_contents(index));
    const auto raw_name = [index] { return StrCat("raw_input_contents[", index, "]"); };
    if (tensor.type == DataType::kBytes) return CheckBytesLayout(raw_name(), tensor.data, elements);
    // Divides, because elements * size may overflow.
    if (tensor.data.size() % element_size != 0 ||
        tensor.data.size() / element_size != static_cast<uint64_t>(elements)) {
      return Invalid(raw_name(), ": has ", tensor.data.size(), " bytes; ", ToString(tensor.type),
                     Shape(tensor.shape), " needs ", elements, " elements of ", element_size,
                     " bytes");
    }
    return absl::OkStatus();
  }
  if (tensor.type == DataType::kFp16 || tensor.type == DataType::kBf16) {
    return Invalid(InputName(index), ".contents: ", ToString(tensor.type),
                   " has no typed list; send it as raw_input_contents");
  }
  const Contents taken = TakeContents(contents, tensor.type, tensor.data);
  if (taken.does_not_fit >= 0) {
    return Invalid(InputName(index), ".contents.", taken.field, "[", taken.does_not_fit,
                   "]: is out of range for ", ToString(tensor.type));
  }
  if (ListsInUse(contents) > (taken.size != 0 ? 1 : 0)) {
    return Invalid(InputName(index), ".contents: only ", taken.field, " may be filled for ",
                   ToString(tensor.type));
  }
  if (taken.size != elements) {
    return Invalid(InputName(index), ".contents.", taken.field, ": has ", taken.size,
                   " elements; shape ", Shape(tensor.shape), " needs ", elements);
  }
  return absl::OkStatus();
}

std::string SpecNames(const std::vector<TensorSpec>& specs) {
  return absl::StrJoin(specs, ", ", [](std::string* out, const TensorSpec& spec) {
    absl::StrAppend(out, spec.name);
  });
}

const TensorSpec* FindSpec(const std::vector<TensorSpec>& specs, const std::string& name) {
  for (const TensorSpec& spec : specs) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<models::InferInput> DecodeInfer(ModelInferRequest& request,
                                               const models::ModelInfo& model) {
  const auto inputs = static_cast<size_t>(request.inputs_size());
  if (inputs != model.infer().inputs.size()) {
    return Invalid("inputs: has ", inputs, " tensors; model '", model.name, "' takes ",
                   model.infer().inputs.size(), ": ", SpecNames(model.infer().inputs));
  }
  if (request.raw_input_contents_size() != 0 &&
      request.raw_input_contents_size() != request.inputs_size()) {
    return Invalid("raw_input_contents: has ", request.raw_input_contents_size(),
                   " entries; must have none or one for each of the ", inputs, " inputs");
  }
  models::InferInput input;
  input.inputs.reserve(inputs);
  for (int i = 0; i < request.inputs_size(); ++i) {
    auto& wire = *request.mutable_inputs(i);
    const TensorSpec* spec = FindSpec(model.infer().inputs, wire.name());
    if (spec == nullptr) {
      return Invalid(InputName(i), ".name: '", wire.name().substr(0, kMaxShown),
                     "' is not an input of model '", model.name,
                     "'; its inputs: ", SpecNames(model.infer().inputs));
    }
    for (const Tensor& earlier : input.inputs) {
      if (earlier.name == spec->name)
        return Invalid(InputName(i), ".name: '", spec->name, "' was given before");
    }
    if (wire.datatype() != ToString(spec->type)) {
      return Invalid(InputName(i), ".datatype: '", wire.datatype().substr(0, kMaxShown),
                     "' is not what input '", spec->name, "' takes: ", ToString(spec->type));
    }
    Tensor& tensor = input.inputs.emplace_back();
    tensor.name = spec->name;
    tensor.type = spec->type;
    tensor.shape.assign(wire.shape().begin(), wire.shape().end());
    int64_t elements = 0;
    if (absl::Status status = CheckShape(i, tensor, *spec, elements); !status.ok()) return status;
    if (absl::Status status = TakeData(request, i, elements, tensor); !status.ok()) return status;
  }
  for (int i = 0; i < request.outputs_size(); ++i) {
    const std::string& name = request.outputs(i).name();
    if (FindSpec(model.infer().outputs, name) == nullptr) {
      return Invalid("outputs[", i, "].name: '", name.substr(0, kMaxShown),
                     "' is not an output of model '", model.name,
                     "'; its outputs: ", SpecNames(model.infer().outputs));
    }
    input.requested_outputs.push_back(name);
  }
  return input;
}

void EncodeInfer(models::InferOutput output, inference::ModelInferResponse& response) {
  for (Tensor& tensor : output.outputs) {
    auto& wire = *response.add_outputs();
    wire.set_name(std::move(tensor.name));
    const std::string_view type = ToString(tensor.type);
    wire.set_datatype(type.data(), type.size());
    wire.mutable_shape()->Add(tensor.shape.begin(), tensor.shape.end());
    response.add_raw_output_contents(std::move(tensor.data));
  }
}

absl::StatusOr<Work> InferTask::Decode(const ByteBuffer& message, const Services& services) {
  SmallArena arena;
  auto& request = arena.Create<ModelInferRequest>();
  if (absl::Status status = ParseMessage(message, request); !status.ok()) return status;
  if (request.model_name().empty()) return absl::InvalidArgumentError("model_name: is empty");
  if (request.id().size() > kMaxIdBytes) {
    return absl::InvalidArgumentError(
        StrCat("id: has ", request.id().size(), " bytes; at most ", kMaxIdBytes, " are allowed"));
  }
  auto model = services.models.FindForTask(models::Task::kInfer, request.model_name(),
                                           request.model_version());
  if (!model.ok()) return model.status();
  id_ = request.id();
  absl::StatusOr<models::InferInput> input = DecodeInfer(request, (*model)->info());
  if (!input.ok()) return input.status();
  return Work{*std::move(model), *std::move(input)};
}

absl::Status InferTask::End(const absl::Status& status, const RequestRun& run, ByteBuffer& reply) {
  if (!status.ok()) return status;
  SmallArena arena;
  auto& response = arena.Create<inference::ModelInferResponse>();
  const models::ModelInfo& model = run.model()->info();
  response.set_model_name(model.name);
  response.set_model_version(StrCat(model.version));
  response.set_id(std::move(id_));
  EncodeInfer(std::move(output_), response);
  return SerializeMessage(response, reply);
}

}  // namespace millrace::server
