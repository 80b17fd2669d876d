#include "server/frontends/kserve/infer_codec.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "google/protobuf/arena.h"
#include "models/core/errors.h"
#include "models/core/shown.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/frontends/kserve/infer_tensors.h"
#include "server/json/ignored_members.h"

namespace millrace::server {
namespace {

using inference::InferTensorContents;
using inference::ModelInferRequest;
using models::DataType;
using models::Tensor;

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
  std::string unfit;     // the element, as text
};

// Moves the list for the datatype into data.
Contents TakeContents(const InferTensorContents& contents, DataType type, std::string& data) {
  const auto take = [&]<typename Element>(Element, const char* field, const auto& values) {
    const int64_t unfit = AppendAs<Element>(values, data);
    return Contents{field, values.size(), unfit,
                    unfit < 0 ? "" : StrCat(values.Get(static_cast<int>(unfit)))};
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
      for (const std::string& element : contents.bytes_contents())
        AppendBytesElement(element, data);
      return {"bytes_contents", contents.bytes_contents_size(), -1, ""};
    case DataType::kFp16:
    case DataType::kBf16:
      break;
  }
  return {"raw_input_contents", 0, -1, ""};
}

int ListsInUse(const InferTensorContents& contents) {
  return !contents.bool_contents().empty() + !contents.int_contents().empty() +
         !contents.int64_contents().empty() + !contents.uint_contents().empty() +
         !contents.uint64_contents().empty() + !contents.fp32_contents().empty() +
         !contents.fp64_contents().empty() + !contents.bytes_contents().empty();
}

absl::Status TakeData(ModelInferRequest& request, int index, int64_t elements, Tensor& tensor) {
  const InferTensorContents& contents = request.inputs(index).contents();
  const auto input = [index] { return InputName(static_cast<size_t>(index)); };
  if (!request.raw_input_contents().empty()) {
    if (ListsInUse(contents) != 0)
      return InvalidArgument(input(), ".contents: must be empty when raw_input_contents is used");
    tensor.data = std::move(*request.mutable_raw_input_contents(index));
    return CheckTensorData(tensor, elements,
                           [index] { return StrCat("raw_input_contents[", index, "]"); });
  }
  if (tensor.type == DataType::kFp16 || tensor.type == DataType::kBf16) {
    return InvalidArgument(input(), ".contents: ", ToString(tensor.type),
                           " has no typed list; send it as raw_input_contents");
  }
  const Contents taken = TakeContents(contents, tensor.type, tensor.data);
  if (taken.does_not_fit >= 0) {
    return InvalidArgument(input(), ".contents.", taken.field, "[", taken.does_not_fit,
                           "]: must be ", ElementForm(tensor.type), " for ", ToString(tensor.type),
                           ", not ", taken.unfit);
  }
  if (ListsInUse(contents) > (taken.size != 0 ? 1 : 0)) {
    return InvalidArgument(input(), ".contents: only ", taken.field, " may be filled for ",
                           ToString(tensor.type));
  }
  if (taken.size != elements) {
    return InvalidArgument(input(), ".contents.", taken.field, ": has ", taken.size,
                           " elements; shape ", ShapeText(tensor.shape), " needs ", elements);
  }
  return absl::OkStatus();
}

// A parameter of 0 or of no text is as if it were not there.
bool IsUnset(const inference::InferParameter& parameter) {
  switch (parameter.parameter_choice_case()) {
    case inference::InferParameter::kInt64Param:
      return parameter.int64_param() == 0;
    case inference::InferParameter::kUint64Param:
      return parameter.uint64_param() == 0;
    case inference::InferParameter::kStringParam:
      return parameter.string_param().empty();
    case inference::InferParameter::kBoolParam:
      return !parameter.bool_param();
    default:
      return false;
  }
}

template <typename Parameters>
absl::Status IgnoreInferParameters(const Parameters& parameters,
                                   absl::FunctionRef<std::string()> owner,
                                   std::vector<std::string>& ignored) {
  for (const auto& [name, value] : parameters) {
    if (IsUnset(value)) continue;
    MILLRACE_RETURN_IF_ERROR(IgnoreInferParameter(
        name, [&, &given = name] { return StrCat(owner(), "parameters.", given); }, ignored));
  }
  return absl::OkStatus();
}

absl::Status IgnoreAllParameters(const ModelInferRequest& request,
                                 std::vector<std::string>& ignored) {
  absl::Status status = IgnoreInferParameters(
      request.parameters(), [] { return std::string(); }, ignored);
  std::erase(ignored, "parameters.timeout");
  for (int i = 0; i < request.inputs_size() && status.ok(); ++i) {
    status = IgnoreInferParameters(
        request.inputs(i).parameters(),
        [i] { return StrCat(InputName(static_cast<size_t>(i)), "."); }, ignored);
  }
  for (int i = 0; i < request.outputs_size() && status.ok(); ++i) {
    status = IgnoreInferParameters(
        request.outputs(i).parameters(), [i] { return StrCat("outputs[", i, "]."); }, ignored);
  }
  return status;
}

// Reads Triton's parameter "timeout" of a request.
absl::StatusOr<std::optional<Duration>> TakeTimeout(const ModelInferRequest& request) {
  const auto found = request.parameters().find("timeout");
  if (found == request.parameters().end() || IsUnset(found->second)) return std::nullopt;
  const inference::InferParameter& value = found->second;
  if (value.has_uint64_param()) return InferTimeout(value.uint64_param());
  if (value.has_int64_param() && value.int64_param() > 0)
    return InferTimeout(static_cast<uint64_t>(value.int64_param()));
  return InvalidArgument("parameters.timeout: must be a whole number of microseconds >= 0, not ",
                         value.has_int64_param()    ? StrCat(value.int64_param())
                         : value.has_string_param() ? StrCat("string ", Shown(value.string_param()))
                                                    : "a number with a fraction or a truth value");
}

}  // namespace

absl::StatusOr<models::InferInput> DecodeInfer(ModelInferRequest& request,
                                               const models::ModelInfo& model,
                                               std::vector<std::string>& ignored) {
  const auto inputs = static_cast<size_t>(request.inputs_size());
  MILLRACE_RETURN_IF_ERROR(IgnoreAllParameters(request, ignored));
  MILLRACE_RETURN_IF_ERROR(CheckInputCount(inputs, model));
  if (request.raw_input_contents_size() != 0 &&
      request.raw_input_contents_size() != request.inputs_size()) {
    return InvalidArgument("raw_input_contents: has ", request.raw_input_contents_size(),
                           " entries; must have none or one for each of the ", inputs, " inputs");
  }
  models::InferInput input;
  input.inputs.reserve(inputs);
  for (int i = 0; i < request.inputs_size(); ++i) {
    const auto& wire = request.inputs(i);
    int64_t elements = 0;
    absl::Status status =
        AddInputTensor(static_cast<size_t>(i), wire.name(), wire.datatype(),
                       {wire.shape().begin(), wire.shape().end()}, model, input, elements);
    if (status.ok()) status = TakeData(request, i, elements, input.inputs.back());
    if (!status.ok()) return status;
  }
  for (int i = 0; i < request.outputs_size(); ++i) {
    MILLRACE_RETURN_IF_ERROR(
        AddRequestedOutput(static_cast<size_t>(i), request.outputs(i).name(), model, input));
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
  MILLRACE_RETURN_IF_ERROR(ParseMessage(message, request));
  if (request.model_name().empty()) return InvalidArgument("model_name: is empty");
  MILLRACE_RETURN_IF_ERROR(CheckInferId(request.id()));
  MILLRACE_ASSIGN_OR_RETURN(auto model,
                            services.models.FindForTask(models::Task::kInfer, request.model_name(),
                                                        request.model_version()));
  id_ = request.id();
  std::vector<std::string> ignored;
  MILLRACE_ASSIGN_OR_RETURN(models::InferInput input, DecodeInfer(request, model->info(), ignored));
  warning_ = IgnoredMembersWarning(ignored);
  MILLRACE_ASSIGN_OR_RETURN(const std::optional<Duration> timeout, TakeTimeout(request));
  return Work{.model = std::move(model), .input = std::move(input), .timeout = timeout};
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
