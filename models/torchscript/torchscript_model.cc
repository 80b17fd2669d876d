#include "models/torchscript/torchscript_model.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/hash.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "models/core/failure_text.h"
#include "models/core/strings.h"
#include "models/torchscript/replace_linear.h"
#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/cached_forward.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::torchscript {
namespace {

// The difference between a matrix product with an addition and aten::linear.
constexpr double kRelative = 1e-4;

// The warm-up runs larger inputs once only, and no larger batches, because they would take memory
// and time out of proportion.
constexpr size_t kLargeInput = 16 << 20;
constexpr size_t kLargestWarmBatch = 256 << 20;

at::ScalarType ToScalarType(models::DataType type) {
  switch (type) {
    case models::DataType::kBool:
      return at::kBool;
    case models::DataType::kUint8:
      return at::kByte;
    case models::DataType::kUint16:
      return at::kUInt16;
    case models::DataType::kUint32:
      return at::kUInt32;
    case models::DataType::kUint64:
      return at::kUInt64;
    case models::DataType::kInt8:
      return at::kChar;
    case models::DataType::kInt16:
      return at::kShort;
    case models::DataType::kInt32:
      return at::kInt;
    case models::DataType::kInt64:
      return at::kLong;
    case models::DataType::kFp16:
      return at::kHalf;
    case models::DataType::kBf16:
      return at::kBFloat16;
    case models::DataType::kFp32:
      return at::kFloat;
    case models::DataType::kFp64:
      return at::kDouble;
    case models::DataType::kBytes:
      break;
  }
  throw std::invalid_argument("BYTES has no tensor type");
}

std::vector<at::Tensor> ToTensors(const c10::IValue& result) {
  if (result.isTensor()) return {result.toTensor()};
  if (!result.isTuple())
    throw std::runtime_error("forward returned neither a tensor nor a tuple of tensors");
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& element : result.toTupleRef().elements())
    tensors.push_back(element.toTensor());
  return tensors;
}

// A module that all workers share. It is frozen: attributes that forward only reads have become
// constants of its graph. A module whose forward writes an attribute is rejected, because the
// workers would write it at the same time.
class TorchScriptModel final : public models::Model {
 public:
  TorchScriptModel(torch::jit::Module module, const TorchScriptOptions& options, at::Device device,
                   models::ModelInfo info)
      : module_(std::move(module)),
        stack_(options.stack),
        few_shapes_(options.stack && options.shapes == models::ShapePolicy::kFew &&
                    !device.is_cpu()),
        warmup_sizes_(options.warmup_sizes.empty() ? std::vector<int64_t>{1}
                                                   : options.warmup_sizes),
        device_(device),
        info_(std::move(info)) {}

  const models::ModelInfo& info() const override { return info_; }

  absl::Status Validate(const models::Input& input) const override {
    const auto& infer = std::get<models::InferInput>(input);
    if (infer.inputs.size() == info_.infer().inputs.size()) return absl::OkStatus();
    return InvalidArgument("inputs: has ", infer.inputs.size(), " tensors; model '", info_.name,
                           "' takes ", info_.infer().inputs.size());
  }

  std::unique_ptr<models::Batch> Prepare(
      std::span<models::Request* const> requests) const override {
    return std::make_unique<Step>(*this, requests);
  }

  std::vector<models::Input> WarmupInputs() const override {
    std::vector<models::Input> inputs;
    for (const int64_t size : warmup_sizes_) {
      models::InferInput input;
      size_t bytes = 0;
      for (const models::TensorSpec& spec : info_.infer().inputs) {
        models::Tensor& tensor = input.inputs.emplace_back();
        tensor.name = spec.name;
        tensor.type = spec.type;
        tensor.shape = spec.shape;
        std::replace_if(
            tensor.shape.begin(), tensor.shape.end(), [](int64_t dim) { return dim < 0; }, size);
        tensor.data.assign(static_cast<size_t>(models::ElementCount(tensor.shape).value_or(0)) *
                               models::ElementSize(tensor.type),
                           '\0');
        bytes += tensor.data.size();
      }
      // The executor specialises in the first runs, and the graph cache captures the second.
      inputs.insert(inputs.end(), bytes > kLargeInput ? 1 : 3, models::Input(input));
    }
    return inputs;
  }

  std::vector<size_t> WarmupBatches() const override {
    std::vector<size_t> sizes = {1};
    const size_t row = InputBytes();
    while (few_shapes_ && sizes.back() < info_.batching.max_batch) {
      const size_t next = PaddedSize(sizes.back() + 1);
      if (next * row > kLargestWarmBatch) break;
      sizes.push_back(next);
    }
    return sizes;
  }

 private:
  // Returns the bytes of a request's inputs, whose shapes are fixed where they are stacked.
  size_t InputBytes() const {
    size_t bytes = 0;
    for (const models::TensorSpec& spec : info_.infer().inputs) {
      bytes += static_cast<size_t>(models::ElementCount(spec.shape).value_or(0)) *
               models::ElementSize(spec.type);
    }
    return bytes;
  }
  // Returns how many rows a stacked batch of `count` requests has.
  size_t PaddedSize(size_t count) const {
    if (!few_shapes_) return count;
    return std::max(count, std::min(std::bit_ceil(count), info_.batching.max_batch));
  }

  class Step final : public models::Batch {
   public:
    Step(const TorchScriptModel& model, std::span<models::Request* const> requests)
        : model_(model), requests_(requests.begin(), requests.end()), outputs_(requests.size()) {}

    void Forward(runtime::WorkerContext& context) override {
      const size_t group = model_.stack_ ? requests_.size() : 1;
      for (size_t first = 0; first < requests_.size(); first += group) {
        // The queue ends a request that is to stop and has no outcome.
        if (group == 1 && requests_[first]->ShouldStop()) continue;
        Run(first, group, context);
      }
    }

    void Complete() override {
      for (size_t i = 0; i < requests_.size(); ++i) {
        if (!outputs_[i]) continue;
        requests_[i]->Emit(*std::move(outputs_[i]));
        requests_[i]->Finish(absl::OkStatus());
      }
    }

   private:
    // Runs one forward of `count` requests from `first` on.
    void Run(size_t first, size_t count, runtime::WorkerContext& context) {
      std::vector<at::Tensor> inputs;
      inputs.reserve(model_.info_.infer().inputs.size());
      for (const models::TensorSpec& spec : model_.info_.infer().inputs)
        inputs.push_back(Gather(spec, first, count));
      const std::vector<at::Tensor> tensors =
          model_.device_.is_cpu()
              ? Call(inputs)
              : runtime::RunCachedOnHost(
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
              .shape_bucket = static_cast<int64_t>(shapes),
              .instance = model_.instance_};
    }

    std::vector<at::Tensor> Call(const std::vector<at::Tensor>& inputs) const {
      std::vector<at::Tensor> tensors =
          ToTensors(model_.module_.get_method("forward")({inputs.begin(), inputs.end()}));
      if (tensors.size() != model_.info_.infer().outputs.size()) {
        throw std::runtime_error(StrCat("forward returned ", tensors.size(),
                                        " tensors; model.pbtxt names ",
                                        model_.info_.infer().outputs.size(), " outputs"));
      }
      return tensors;
    }

    const models::Tensor& InputOf(size_t request, const models::TensorSpec& spec) const {
      for (const models::Tensor& tensor :
           std::get<models::InferInput>(requests_[request]->input()).inputs) {
        if (tensor.name == spec.name) return tensor;
      }
      throw std::runtime_error("input '" + spec.name + "' is missing");
    }

    at::Tensor Gather(const models::TensorSpec& spec, size_t first, size_t count) const {
      const models::Tensor& one = InputOf(first, spec);
      std::vector<int64_t> shape = one.shape;
      const size_t rows = model_.PaddedSize(count);
      if (model_.stack_) shape.insert(shape.begin(), static_cast<int64_t>(rows));
      at::Tensor tensor = at::empty(shape, ToScalarType(spec.type));
      char* out = static_cast<char*>(tensor.mutable_data_ptr());
      const size_t bytes = tensor.nbytes() / rows;
      for (size_t i = first; i < first + count; ++i) {
        const models::Tensor& input = InputOf(i, spec);
        if (input.shape != one.shape || input.data.size() != bytes) {
          throw std::runtime_error(
              StrCat("input '", spec.name, "' has not the shape and size of its batch"));
        }
        std::memcpy(out, input.data.data(), bytes);
        out += bytes;
      }
      for (size_t i = count; i < rows; ++i, out += bytes) std::memcpy(out, out - bytes, bytes);
      return tensor;
    }

    void Scatter(size_t index, const at::Tensor& result, size_t first, size_t count) {
      const models::TensorSpec& spec = model_.info_.infer().outputs.at(index);
      if (result.scalar_type() != ToScalarType(spec.type)) {
        throw std::runtime_error("output '" + spec.name +
                                 "' has another type than its model.pbtxt says");
      }
      std::vector<int64_t> shape = result.sizes().vec();
      const size_t rows = model_.PaddedSize(count);
      if (model_.stack_) {
        if (shape.empty() || shape.front() != static_cast<int64_t>(rows)) {
          throw std::runtime_error("output '" + spec.name +
                                   "' lost the batch dimension, so the model cannot be stacked");
        }
        shape.erase(shape.begin());
      }
      const at::Tensor contiguous = result.contiguous();
      const size_t bytes = contiguous.nbytes() / rows;
      const char* data = static_cast<const char*>(contiguous.const_data_ptr());
      for (size_t i = first; i < first + count; ++i, data += bytes) {
        const auto& wanted = std::get<models::InferInput>(requests_[i]->input()).requested_outputs;
        if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), spec.name) == wanted.end())
          continue;
        outputs_[i]->outputs.push_back({spec.name, spec.type, shape, std::string(data, bytes)});
      }
    }

    const TorchScriptModel& model_;
    const std::vector<models::Request*> requests_;
    std::vector<std::optional<models::InferOutput>> outputs_;  // nullopt: not run
  };

  torch::jit::Module module_;
  const bool stack_;
  const bool few_shapes_;
  const std::vector<int64_t> warmup_sizes_;
  const at::Device device_;
  const models::ModelInfo info_;
  const uint64_t instance_ = runtime::NextInstance();
};

// Returns true for a file that Python's pickle begins, as torch.save wrote it of old.
bool IsPickle(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return stream.get() == 0x80;
}

// Returns why libtorch cannot load a file.
std::string LoadFailure(const std::string& file, const std::string& text) {
  // It is the part of an archive that torch.save does not write.
  if (IsPickle(file) || text.find("constants.pkl") != text.npos)
    return "was saved by torch.save; save it with torch.jit.script(m).save(\"model.pt\")";
  return "is not a TorchScript module: " + FailureCause(text);
}

// Loads the module and freezes it to one graph, with everything inlined and attributes that forward
// only reads as constants.
torch::jit::Module LoadFrozen(const std::string& file, at::Device device) {
  torch::jit::Module module = torch::jit::load(file, device);
  module.eval();
  // Outputs must stay those of the module as it was saved, so nothing that changes numbers is
  // fused.
  return torch::jit::freeze(module, std::nullopt, /*optimize_numerics=*/false);
}

// Makes numbers that distinguish a wrong graph from a right one: neighbours differ, and none is
// special.
at::Tensor SampleInput(const models::TensorSpec& spec, const TorchScriptOptions& options) {
  std::vector<int64_t> shape = spec.shape;
  const int64_t size = options.warmup_sizes.empty() ? 1 : options.warmup_sizes.front();
  std::replace_if(
      shape.begin(), shape.end(), [](int64_t dim) { return dim < 0; }, size);
  if (options.stack) shape.insert(shape.begin(), 2);
  const at::ScalarType type = ToScalarType(spec.type);
  if (!at::isFloatingType(type)) return at::zeros(shape, type);  // often indices
  const at::Tensor numbers = at::zeros(shape, at::kDouble);
  return (at::arange(numbers.numel(), at::kDouble) * 0.7).sin().view(shape).to(type);
}

// Returns the relative difference that rounding may cause for numbers of this type.
double RelativeTolerance(at::ScalarType type) {
  switch (type) {
    case at::kHalf:
      return 1e-2;
    case at::kBFloat16:
      return 5e-2;
    default:
      return kRelative;
  }
}

// Checks that the graph without nn.Linear gives the outputs of the original on the CPU, where both
// are known to be right.
absl::Status CheckLinearReplaced(const TorchScriptOptions& options, const models::ModelInfo& info) {
  const std::string file = options.file.string();
  const c10::InferenceMode inference;
  std::vector<c10::IValue> inputs;
  for (const models::TensorSpec& spec : info.infer().inputs)
    inputs.emplace_back(SampleInput(spec, options));
  torch::jit::Module original = LoadFrozen(file, at::kCPU);
  torch::jit::Module replaced = LoadFrozen(file, at::kCPU);
  if (ReplaceLinear(replaced.get_method("forward").graph()) == 0) return absl::OkStatus();
  std::vector<at::Tensor> expected, actual;
  try {
    expected = ToTensors(original.forward(inputs));
    actual = ToTensors(replaced.forward(inputs));
  } catch (const std::exception& error) {
    return InvalidArgument(
        file,
        ": its nn.Linear has to be replaced to be safe on mps, and the sample input "
        "that checks it fails: ",
        FailureCause(error.what()), "; warmup_sizes: say which sizes it takes");
  }
  for (size_t i = 0; i < expected.size(); ++i) {
    const double relative = RelativeTolerance(expected[i].scalar_type());
    if (!at::allclose(expected[i], actual[i], relative, relative / 10, /*equal_nan=*/true)) {
      return InvalidArgument(
          file, ": gives other numbers without nn.Linear, which is not safe on mps: output ", i,
          " differs");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<models::Model>> LoadTorchScript(const TorchScriptOptions& options,
                                                               models::ModelInfo info) {
  const at::Device device = runtime::TensorDevice(options.device);
  try {
    torch::jit::Module module = LoadFrozen(options.file.string(), device);
    const auto& schema = module.get_method("forward").function().getSchema();
    const size_t takes = schema.arguments().size() - 1;  // without self
    if (takes != info.infer().inputs.size()) {
      return InvalidArgument(options.file.string(), ": forward takes ", takes,
                             " inputs; model.pbtxt names ", info.infer().inputs.size());
    }
    if (runtime::TraitsOf(options.device).replaces_linear) {
      MILLRACE_RETURN_IF_ERROR(CheckLinearReplaced(options, info));
      ReplaceLinear(module.get_method("forward").graph());
    }
    info.platform = "torchscript";
    return std::make_unique<TorchScriptModel>(std::move(module), options, device, std::move(info));
  } catch (const std::exception& error) {
    const std::string file = options.file.string();
    const std::string text(BeforeStackTrace(error.what()));
    if (text.find('\n') != text.npos) SendToLog(LogSeverity::kError, StrCat(file, ": ", text));
    return InvalidArgument(file, ": ", LoadFailure(file, text));
  }
}

}  // namespace millrace::torchscript
