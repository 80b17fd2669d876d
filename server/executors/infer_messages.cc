#include <optional>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "server/executors/message_fields.h"
#include "server/executors/task_messages.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

template <typename Tensor, typename Message>
void CopyTensor(Tensor& tensor, Message& message) {
  MILLRACE_COPY(tensor, message, name, type, shape);
}

void WriteTensor(const models::Tensor& tensor, wire::Tensor& message, Behind& behind) {
  CopyTensor(tensor, message);
  message.set_data_bytes(tensor.data.size());
  behind.push_back(tensor.data);
}

absl::StatusOr<models::Tensor> ReadTensor(const wire::Tensor& message, BehindReader& behind) {
  models::Tensor tensor;
  CopyTensor(tensor, message);
  MILLRACE_RETURN_IF_ERROR(CheckEnum(message.type(), models::DataType::kBytes, "type of a tensor"));
  MILLRACE_ASSIGN_OR_RETURN(const auto data, behind.Take(message.data_bytes()));
  const std::optional<int64_t> count = models::ElementCount(tensor.shape);
  if (!count) return Malformed("a tensor's shape is out of range");
  const size_t size = models::ElementSize(tensor.type);
  if (size != 0 && (data.size() % size != 0 || static_cast<uint64_t>(*count) != data.size() / size))
    return Malformed("a tensor's data are not those of its shape");
  tensor.data = data;
  return tensor;
}

template <typename Messages>
absl::StatusOr<std::vector<models::Tensor>> ReadTensors(const Messages& messages,
                                                        BehindReader& behind) {
  std::vector<models::Tensor> tensors;
  for (const wire::Tensor& message : messages) {
    MILLRACE_ASSIGN_OR_RETURN(auto tensor, ReadTensor(message, behind));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

void WriteTask(const models::InferInput& input, wire::Input& message, Behind& behind) {
  wire::InferInput& to = *message.mutable_infer();
  for (const models::Tensor& tensor : input.inputs) WriteTensor(tensor, *to.add_inputs(), behind);
  to.mutable_requested_outputs()->Add(input.requested_outputs.begin(),
                                      input.requested_outputs.end());
}

absl::StatusOr<models::Input> ReadTask(const wire::InferInput& message, BehindReader& behind) {
  MILLRACE_ASSIGN_OR_RETURN(auto tensors, ReadTensors(message.inputs(), behind));
  return models::InferInput{.inputs = std::move(tensors),
                            .requested_outputs = {message.requested_outputs().begin(),
                                                  message.requested_outputs().end()}};
}

void WriteTask(const models::InferOutput& output, wire::Output& message, Behind& behind) {
  for (const models::Tensor& tensor : output.outputs)
    WriteTensor(tensor, *message.mutable_infer()->add_outputs(), behind);
  message.mutable_infer();  // also without tensors
}

absl::StatusOr<models::Output> ReadTask(const wire::InferOutput& message, BehindReader& behind) {
  MILLRACE_ASSIGN_OR_RETURN(auto tensors, ReadTensors(message.outputs(), behind));
  return models::InferOutput{.outputs = std::move(tensors)};
}

}  // namespace millrace::server
