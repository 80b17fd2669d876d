#include "models/generic/torchscript_model.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/util/hash.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "models/core/strings.h"
#include "mps_runtime/cached_forward.h"

namespace millrace::models {
namespace {

at::ScalarType ToScalarType(DataType type) {
  switch (type) {
    case DataType::kBool:
      return at::kBool;
    case DataType::kUint8:
      return at::kByte;
    case DataType::kUint16:
      return at::kUInt16;
    case DataType::kUint32:
      return at::kUInt32;
    case DataType::kUint64:
      return at::kUInt64;
    case DataType::kInt8:
      return at::kChar;
    case DataType::kInt16:
      return at::kShort;
    case DataType::kInt32:
      return at::kInt;
    case DataType::kInt64:
      return at::kLong;
    case DataType::kFp16:
      return at::kHalf;
    case DataType::kBf16:
      return at::kBFloat16;
    case DataType::kFp32:
      return at::kFloat;
    case DataType::kFp64:
      return at::kDouble;
    case DataType::kBytes:
      break;
  }
  throw std::invalid_argument("BYTES has no tensor type");
}

// A module that is shared by all workers. It is frozen: what forward only reads has become a
// constant of its graph. An attribute that forward writes stays one, and the workers would write it
// at the same time, so such modules are none to serve.
class TorchScriptModel final : public Model {
 public:
  TorchScriptModel(torch::jit::Module module, bool stack, at::Device device, ModelInfo info)
      : module_(std::move(module)), stack_(stack), device_(device), info_(std::move(info)) {}

  const ModelInfo& info() const override { return info_; }

  absl::Status Validate(const Input& input) const override {
    const auto& infer = std::get<InferInput>(input);
    if (infer.inputs.size() == info_.inputs.size()) return absl::OkStatus();
    return absl::InvalidArgumentError(StrCat("inputs: has ", infer.inputs.size(),
                                             " tensors; model '", info_.name, "' takes ",
                                             info_.inputs.size()));
  }

  std::unique_ptr<Batch> Prepare(std::span<Request* const> requests) const override {
    return std::make_unique<Step>(*this, requests);
  }

  std::vector<Input> WarmupInputs() const override {
    InferInput input;
    for (const TensorSpec& spec : info_.inputs) {
      Tensor& tensor = input.inputs.emplace_back();
      tensor.name = spec.name;
      tensor.type = spec.type;
      tensor.shape = spec.shape;
      std::replace_if(
          tensor.shape.begin(), tensor.shape.end(), [](int64_t dim) { return dim < 0; }, 1);
      tensor.data.assign(
          static_cast<size_t>(ElementCount(tensor.shape).value_or(0)) * ElementSize(tensor.type),
          '\0');
    }
    // The executor specialises during the first runs.
    return {3, Input(input)};
  }

 private:
  class Step final : public Batch {
   public:
    Step(const TorchScriptModel& model, std::span<Request* const> requests)
        : model_(model), requests_(requests.begin(), requests.end()), outputs_(requests.size()) {}

    void Forward(runtime::WorkerContext& context) override {
      const size_t group = model_.stack_ ? requests_.size() : 1;
      for (size_t first = 0; first < requests_.size(); first += group) {
        // The queue ends a request that was left without an outcome and is to stop.
        if (group == 1 && requests_[first]->ShouldStop()) continue;
        Run(first, group, context);
      }
      context.Synchronize();
    }

    void Complete() override {
      for (size_t i = 0; i < requests_.size(); ++i) {
        if (!outputs_[i]) continue;
        requests_[i]->Emit(*std::move(outputs_[i]));
        requests_[i]->Finish(absl::OkStatus());
      }
    }

   private:
    // One forward of `count` requests from `first`.
    void Run(size_t first, size_t count, runtime::WorkerContext& context) {
      std::vector<at::Tensor> inputs;
      inputs.reserve(model_.info_.inputs.size());
      for (const TensorSpec& spec : model_.info_.inputs)
        inputs.push_back(Gather(spec, first, count).to(model_.device_));
      const std::vector<at::Tensor> tensors =
          model_.device_.is_cpu()
              ? Call(inputs)
              : runtime::RunCached(
                    context, KeyOf(inputs), inputs,
                    [this](const std::vector<at::Tensor>& arguments) { return Call(arguments); });
      for (size_t i = first; i < first + count; ++i) outputs_[i].emplace();
      for (size_t i = 0; i < tensors.size(); ++i) Scatter(i, tensors[i], first, count);
    }

    runtime::GraphKey KeyOf(const std::vector<at::Tensor>& inputs) const {
      size_t shapes = 0;
      for (const at::Tensor& input : inputs) {
        for (const int64_t dim : input.sizes())
          shapes = c10::hash_combine(shapes, static_cast<size_t>(dim));
      }
      return {.model = StrCat(model_.info_.name, "/", model_.info_.version),
              .entry_point = "forward",
              .shape_bucket = static_cast<int64_t>(shapes)};
    }

    std::vector<at::Tensor> Call(const std::vector<at::Tensor>& inputs) const {
      const c10::IValue result =
          model_.module_.get_method("forward")({inputs.begin(), inputs.end()});
      std::vector<at::Tensor> tensors;
      if (result.isTensor()) {
        tensors.push_back(result.toTensor());
      } else if (result.isTuple()) {
        for (const c10::IValue& element : result.toTupleRef().elements())
          tensors.push_back(element.toTensor());
      } else {
        throw std::runtime_error("forward returned neither a tensor nor a tuple of tensors");
      }
      if (tensors.size() != model_.info_.outputs.size()) {
        throw std::runtime_error(StrCat("forward returned ", tensors.size(),
                                        " tensors; model.pbtxt names ", model_.info_.outputs.size(),
                                        " outputs"));
      }
      return tensors;
    }

    const Tensor& InputOf(size_t request, const TensorSpec& spec) const {
      for (const Tensor& tensor : std::get<InferInput>(requests_[request]->input()).inputs) {
        if (tensor.name == spec.name) return tensor;
      }
      throw std::runtime_error("input '" + spec.name + "' is missing");
    }

    at::Tensor Gather(const TensorSpec& spec, size_t first, size_t count) const {
      const Tensor& one = InputOf(first, spec);
      std::vector<int64_t> shape = one.shape;
      if (model_.stack_) shape.insert(shape.begin(), static_cast<int64_t>(count));
      at::Tensor tensor = at::empty(shape, ToScalarType(spec.type));
      char* out = static_cast<char*>(tensor.mutable_data_ptr());
      const size_t bytes = tensor.nbytes() / count;
      for (size_t i = first; i < first + count; ++i) {
        const Tensor& input = InputOf(i, spec);
        if (input.shape != one.shape || input.data.size() != bytes) {
          throw std::runtime_error(
              StrCat("input '", spec.name, "' has not the shape and size of its batch"));
        }
        std::memcpy(out, input.data.data(), bytes);
        out += bytes;
      }
      return tensor;
    }

    void Scatter(size_t index, const at::Tensor& result, size_t first, size_t count) {
      const TensorSpec& spec = model_.info_.outputs.at(index);
      if (result.scalar_type() != ToScalarType(spec.type)) {
        throw std::runtime_error("output '" + spec.name +
                                 "' has another type than its model.pbtxt says");
      }
      std::vector<int64_t> shape = result.sizes().vec();
      if (model_.stack_) {
        if (shape.empty() || shape.front() != static_cast<int64_t>(count)) {
          throw std::runtime_error("output '" + spec.name +
                                   "' lost the batch dimension, so the model cannot be stacked");
        }
        shape.erase(shape.begin());
      }
      const at::Tensor contiguous = result.to(at::kCPU).contiguous();
      const size_t bytes = contiguous.nbytes() / count;
      const char* data = static_cast<const char*>(contiguous.const_data_ptr());
      for (size_t i = first; i < first + count; ++i, data += bytes) {
        const auto& wanted = std::get<InferInput>(requests_[i]->input()).requested_outputs;
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), spec.name) == wanted.end())
          continue;
        outputs_[i]->outputs.push_back({spec.name, spec.type, shape, std::string(data, bytes)});
      }
    }

    const TorchScriptModel& model_;
    const std::vector<Request*> requests_;
    std::vector<std::optional<InferOutput>> outputs_;  // nullopt: not run
  };

  torch::jit::Module module_;
  const bool stack_;
  const at::Device device_;
  const ModelInfo info_;
};

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

absl::StatusOr<std::unique_ptr<Model>> LoadTorchScript(const TorchScriptOptions& options,
                                                       ModelInfo info) {
  const at::Device device{std::string(runtime::ToString(options.device))};
  try {
    torch::jit::Module module = torch::jit::load(options.file.string(), device);
    module.eval();
    // Numbers must stay those of the module as it was saved: no fusing that changes them.
    module = torch::jit::freeze(module, std::nullopt, /*optimize_numerics=*/false);
    const auto& schema = module.get_method("forward").function().getSchema();
    const size_t takes = schema.arguments().size() - 1;  // less self
    if (takes != info.inputs.size()) {
      return absl::InvalidArgumentError(StrCat(options.file.string(), ": forward takes ", takes,
                                               " inputs; model.pbtxt names ", info.inputs.size()));
    }
    info.platform = "torchscript";
    info.task = Task::kInfer;
    return std::make_unique<TorchScriptModel>(std::move(module), options.stack, device,
                                              std::move(info));
  } catch (const std::exception& error) {
    return absl::InvalidArgumentError(
        StrCat(options.file.string(), ": is not a TorchScript module: ", FirstLine(error.what())));
  }
}

}  // namespace millrace::models
