#include "server/frontends/kserve/model_config.h"

#include <string>

#include "models/core/strings.h"
#include "nlohmann/json.hpp"

namespace millrace::server {
namespace {

using models::DataType;

// The enumerator of the wire's type.
std::string TypeName(DataType type) {
  return type == DataType::kBytes ? "TYPE_STRING" : StrCat("TYPE_", ToString(type));
}

template <typename Tensor>
void DescribeTensor(const models::TensorSpec& spec, Tensor& tensor) {
  tensor.set_name(spec.name);
  inference::DataType type = inference::TYPE_INVALID;
  inference::DataType_Parse(TypeName(spec.type), &type);
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(spec.shape.begin(), spec.shape.end());
}

template <typename Tensors>
nlohmann::ordered_json TensorsJson(const Tensors& tensors) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const auto& tensor : tensors) {
    list.push_back({{"name", tensor.name()},
                    {"data_type", inference::DataType_Name(tensor.data_type())},
                    {"dims", tensor.dims()}});
  }
  return list;
}

}  // namespace

void DescribeModel(const models::ModelInfo& info, inference::ModelConfig& config) {
  config.set_name(info.name);
  config.set_platform(info.platform);
  config.mutable_model_transaction_policy()->set_decoupled(false);
  // Models of other tasks have no tensors of their own.
  const auto* const infer = std::get_if<models::InferInfo>(&info.details);
  if (infer == nullptr) return;
  for (const models::TensorSpec& spec : infer->inputs) DescribeTensor(spec, *config.add_input());
  for (const models::TensorSpec& spec : infer->outputs) DescribeTensor(spec, *config.add_output());
}

// Protobuf's own JSON has numbers of 64 bits as strings and lacks what has its default value.
nlohmann::ordered_json ModelConfigJson(const models::ModelInfo& info) {
  inference::ModelConfig config;
  DescribeModel(info, config);
  return {
      {"name", config.name()},
      {"platform", config.platform()},
      {"max_batch_size", config.max_batch_size()},
      {"input", TensorsJson(config.input())},
      {"output", TensorsJson(config.output())},
      {"model_transaction_policy", {{"decoupled", config.model_transaction_policy().decoupled()}}}};
}

}  // namespace millrace::server
