#include "server/frontends/kserve/rest_codec.h"

#include <algorithm>
#include <cfenv>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/kserve/infer_tensors.h"
#include "server/frontends/kserve/json_elements.h"
#include "server/frontends/kserve/rest_reader.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

using models::DataType;
using models::Tensor;
using models::TensorSpec;

constexpr size_t kMaxShownHeader = 64;  // characters of a header that a message shows

// Numbers keep their values in this scope: a thread inherits from the one that loads models that
// denormal ones are flushed to zero.
class WithDenormals {
 public:
  WithDenormals() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  WithDenormals(const WithDenormals&) = delete;
  WithDenormals& operator=(const WithDenormals&) = delete;
  ~WithDenormals() { std::fesetenv(&before_); }

 private:
  std::fenv_t before_;
};

absl::StatusOr<RestInferRequest> DecodeRawBody(std::string body, const models::ModelInfo& model) {
  constexpr char kOneInput[] =
      "a body without JSON is the data of a model's only input, and its outputs come as binary "
      "data";
  if (model.infer().inputs.size() != 1) {
    return InvalidArgument(kOneInput, "; model '", model.name, "' takes ",
                           model.infer().inputs.size(), " inputs");
  }
  const TensorSpec& spec = model.infer().inputs.front();
  std::vector<int64_t> shape = spec.shape;
  const auto free = std::find(shape.begin(), shape.end(), -1);
  const bool fixed = free == shape.end();
  if (!fixed && std::find(free + 1, shape.end(), -1) != shape.end()) {
    return InvalidArgument(kOneInput, "; the shape ", ShapeText(spec.shape), " of input '",
                           spec.name, "' has more than one free dimension");
  }
  RestInferRequest request;
  request.form.binary_outputs = true;
  if (spec.type == DataType::kBytes) {
    if (!fixed || models::ElementCount(shape) != 1) {
      return InvalidArgument(kOneInput, "; input '", spec.name, "' of BYTES has the shape ",
                             ShapeText(spec.shape), ", not that of one element");
    }
    std::string element;
    element.reserve(sizeof(uint32_t) + body.size());
    AppendBytesElement(body, element);
    body = std::move(element);
  } else if (!fixed) {
    *free = 1;
    const int64_t rest = models::ElementCount(shape).value_or(0);
    const size_t elements = body.size() / models::ElementSize(spec.type);
    *free = rest == 0 ? 0 : static_cast<int64_t>(elements) / rest;
  }
  int64_t elements = 0;
  MILLRACE_RETURN_IF_ERROR(AddInputTensor(0, spec.name, ToString(spec.type), std::move(shape),
                                          model, request.input, elements));
  Tensor& tensor = request.input.inputs.front();
  tensor.data = std::move(body);
  MILLRACE_RETURN_IF_ERROR(
      CheckTensorData(tensor, elements, [] { return std::string("the body"); }));
  return request;
}

// Takes the inputs' binary data, which stand one behind the other.
absl::Status TakeBinary(std::string_view data, RestInferHead& head) {
  size_t at = 0;
  for (size_t i = 0; i < head.inputs.size(); ++i) {
    const std::optional<uint64_t>& bytes = head.inputs[i].binary_bytes;
    if (!bytes) continue;
    if (*bytes > data.size() - at) {
      return InvalidArgument(InputName(i), ".parameters.binary_data_size: is ", *bytes, "; only ",
                             data.size() - at, " bytes of the body are left");
    }
    Tensor& tensor = head.input.inputs[i];
    tensor.data = data.substr(at, *bytes);
    at += *bytes;
    MILLRACE_RETURN_IF_ERROR(CheckTensorData(tensor, head.inputs[i].elements, [i] {
      return StrCat("the binary data of ", InputName(i));
    }));
  }
  if (at == data.size()) return absl::OkStatus();
  return InvalidArgument("the body has ", data.size() - at,
                         " bytes more than its JSON and the binary_data_size of its inputs");
}

// Text that came in JSON or from a model's package, so that bytes that are not UTF-8 must not
// throw.
std::string Quoted(std::string_view text) { return JsonText(nlohmann::json(text)); }

}  // namespace

bool RestInferForm::IsBinary(std::string_view output) const {
  for (const auto& [name, binary] : binary_output) {
    if (name == output) return binary;
  }
  return binary_outputs;
}

absl::StatusOr<RestInferRequest> DecodeRestInfer(std::string body,
                                                 const std::optional<std::string>& json_length,
                                                 const models::ModelInfo& model) {
  size_t length = body.size();
  if (json_length) {
    const bool digits = std::all_of(json_length->begin(), json_length->end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
    if (!digits || !absl::SimpleAtoi(*json_length, &length) || length > body.size()) {
      return InvalidArgument(kJsonLengthHeader, ": is '", json_length->substr(0, kMaxShownHeader),
                             "'; must be a number of 0..", body.size(), ", the bytes of the body");
    }
    if (length == 0) return DecodeRawBody(std::move(body), model);
  }
  const std::string_view bytes = body;
  const WithDenormals with_denormals;
  RestInferHead head;
  absl::Status status = ReadRestInfer(bytes.substr(0, length), model, head);
  if (status.ok()) status = TakeBinary(bytes.substr(length), head);
  if (!status.ok()) return status;
  RestInferRequest request;
  for (size_t i = 0; i < head.binary_output.size(); ++i) {
    request.form.binary_output.emplace_back(head.input.requested_outputs[i],
                                            head.binary_output[i].value_or(head.binary_outputs));
  }
  request.form.binary_outputs = head.binary_outputs;
  request.form.id = std::move(head.id);
  request.form.ignored = std::move(head.ignored);
  request.timeout_us = head.timeout_us;
  request.input = std::move(head.input);
  return request;
}

absl::StatusOr<RestInferAnswer> EncodeRestInfer(const models::InferOutput& output,
                                                const RestInferForm& form,
                                                const models::ModelInfo& model) {
  const WithDenormals with_denormals;
  RestInferAnswer answer;
  std::string& body = answer.body;
  body =
      StrCat("{\"model_name\":", Quoted(model.name), ",\"model_version\":\"", model.version, "\",");
  if (!form.id.empty()) body += StrCat("\"id\":", Quoted(form.id), ",");
  body += "\"outputs\":[";
  std::vector<const Tensor*> binary;
  size_t binary_bytes = 0;
  for (size_t i = 0; i < output.outputs.size(); ++i) {
    const Tensor& tensor = output.outputs[i];
    body += StrCat(i == 0 ? "" : ",", "{\"name\":", Quoted(tensor.name), ",\"datatype\":\"",
                   ToString(tensor.type), "\",\"shape\":", ShapeText(tensor.shape), ",");
    if (form.IsBinary(tensor.name)) {
      body += StrCat("\"parameters\":{\"binary_data_size\":", tensor.data.size(), "}}");
      binary.push_back(&tensor);
      binary_bytes += tensor.data.size();
    } else {
      body += "\"data\":";
      MILLRACE_RETURN_IF_ERROR(AppendAsJson(tensor, StrCat("output '", tensor.name, "'"), body));
      body += '}';
    }
  }
  body += "]}";
  if (!binary.empty()) {
    answer.json_length = body.size();
    body.reserve(body.size() + binary_bytes);
    for (const Tensor* tensor : binary) body += tensor->data;
  }
  return answer;
}

}  // namespace millrace::server
