#include "models/torchscript/torchscript_kind.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "absl/strings/str_join.h"
#include "millrace/config/v1/model.pb.h"
#include "models/config/config_section.h"
#include "models/core/regular_file.h"
#include "models/core/strings.h"

namespace millrace::torchscript {
namespace {

namespace pb = google::protobuf;
namespace v1 = millrace::config::v1;

constexpr size_t kMaxTensors = 256;
constexpr int kMaxRank = 32;
constexpr size_t kMaxWarmupSizes = 64;
constexpr int64_t kMaxWarmupSize = 65'536;
// The most bytes of a tensor, and of all warm-up inputs together. Loading a model takes several
// times that.
constexpr int64_t kMaxTensorBytes = int64_t{256} << 20;

// Returns the bytes of a tensor with `any` in place of each -1; nullopt when they exceed the limit.
std::optional<int64_t> BytesOf(const models::TensorSpec& spec, int64_t any) {
  auto bytes = static_cast<int64_t>(models::ElementSize(spec.type));
  if (std::find(spec.shape.begin(), spec.shape.end(), 0) != spec.shape.end()) return 0;
  for (const int64_t dim : spec.shape) {
    const int64_t size = dim < 0 ? any : dim;
    if (size > kMaxTensorBytes / bytes) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

std::string Text(const std::vector<int64_t>& shape) {
  return StrCat("[", absl::StrJoin(shape, ", "), "]");
}

// Checks the inputs that the warm-up makes at once, because nothing else bounds them.
void CheckWarmUpBytes(const TorchScriptConfig& config, const models::ConfigSection& section) {
  int64_t left = kMaxTensorBytes;
  for (const int64_t any :
       config.warmup_sizes.empty() ? std::vector<int64_t>{1} : config.warmup_sizes) {
    for (const models::TensorSpec& spec : config.inputs) {
      if (!BytesOf(spec, 1)) return;  // it is reported by itself
      const std::optional<int64_t> bytes = BytesOf(spec, any);
      if (!bytes || *bytes > left) {
        return section.Error("inputs",
                             StrCat("are larger than the ", kMaxTensorBytes,
                                    " bytes that are allowed together, with '", spec.name, "' of ",
                                    Text(spec.shape), " and ", any, " in place of each -1"));
      }
      left -= *bytes;
    }
  }
}

std::vector<models::TensorSpec> ConvertTensors(const pb::RepeatedPtrField<v1::TensorSpec>& specs,
                                               const char* field,
                                               const models::ConfigSection& section) {
  if (specs.empty() || static_cast<size_t>(specs.size()) > kMaxTensors) {
    section.Error(field, StrCat("has ", specs.size(), " entries, allowed 1..", kMaxTensors));
  }
  std::vector<models::TensorSpec> result;
  std::set<std::string> names;
  for (int i = 0; i < specs.size(); ++i) {
    const v1::TensorSpec& spec = specs[i];
    const models::ConfigSection entry = section.Child(spec, field, i);
    entry.Text("name", spec.name());
    if (!names.insert(spec.name()).second) {
      entry.Error("name", StrCat("'", spec.name(), "' is used twice, each needs its own"));
    }
    models::TensorSpec& converted = result.emplace_back();
    converted.name = spec.name();
    const std::optional<models::DataType> type = models::ParseDataType(spec.datatype());
    if (!type || *type == models::DataType::kBytes) {
      entry.Error("datatype",
                  StrCat("'", spec.datatype(),
                         "' is unknown, allowed BOOL, UINT8, UINT16, UINT32, UINT64, INT8, "
                         "INT16, INT32, INT64, FP16, BF16, FP32, FP64"));
    } else {
      converted.type = *type;
    }
    if (spec.shape_size() > kMaxRank) {
      entry.Error("shape", StrCat("has ", spec.shape_size(), " dimensions, allowed 0..", kMaxRank));
    }
    for (int d = 0; d < spec.shape_size(); ++d) {
      if (spec.shape(d) < -1) {
        entry.Error("shape", StrCat(spec.shape(d), " is out of range, allowed -1 (any) or more"),
                    d);
      }
    }
    converted.shape.assign(spec.shape().begin(), spec.shape().end());
    if (!BytesOf(converted, 1)) {
      entry.Error("shape",
                  StrCat(Text(converted.shape), " of ", spec.datatype(), " is larger than the ",
                         kMaxTensorBytes, " bytes that are allowed"));
    }
  }
  return result;
}

std::unique_ptr<const models::KindConfig> Parse(const models::ConfigSection& section) {
  const auto& message = section.As<v1::TorchScript>();
  auto parsed = std::make_unique<TorchScriptConfig>();
  TorchScriptConfig& config = *parsed;
  config.file = section.File("file", message.file(), models::kMaxWeightsBytes, config);
  config.inputs = ConvertTensors(message.inputs(), "inputs", section);
  config.outputs = ConvertTensors(message.outputs(), "outputs", section);
  config.stack = message.stack();
  config.warmup_sizes = {message.warmup_sizes().begin(), message.warmup_sizes().end()};
  CheckWarmUpBytes(config, section);
  for (size_t i = 0; config.stack && i < config.inputs.size(); ++i) {
    for (const int64_t dim : config.inputs[i].shape) {
      if (dim == -1) {
        section.Error("stack", StrCat("needs fixed shapes, but inputs[", i, "].shape has -1"));
      }
    }
  }
  const auto has_any = [](const models::TensorSpec& spec) {
    return std::find(spec.shape.begin(), spec.shape.end(), -1) != spec.shape.end();
  };
  if (config.warmup_sizes.size() > kMaxWarmupSizes) {
    section.Error("warmup_sizes", StrCat("has ", config.warmup_sizes.size(),
                                         " entries, allowed 0..", kMaxWarmupSizes));
  } else if (!config.warmup_sizes.empty() &&
             std::none_of(config.inputs.begin(), config.inputs.end(), has_any)) {
    section.Error("warmup_sizes", "stand for -1 in the inputs' shapes, but there is none");
  }
  for (int i = 0; i < message.warmup_sizes_size(); ++i) {
    const int64_t size = message.warmup_sizes(i);
    if (size < 1 || size > kMaxWarmupSize) {
      section.Error("warmup_sizes", StrCat(size, " is out of range, allowed 1..", kMaxWarmupSize),
                    i);
    }
  }
  return parsed;
}

}  // namespace

models::ModelDetails TorchScriptConfig::Details() const {
  return models::InferInfo{.inputs = inputs, .outputs = outputs};
}

const models::ModelKind kKind = {"torchscript", &Parse};

}  // namespace millrace::torchscript
