#include "models/vits/vits_weights.h"

#include <numeric>
#include <utility>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"

namespace millrace::vits {
namespace {

constexpr int64_t kMaxStride = 64;
constexpr int64_t kMaxHop = 65536;
constexpr int64_t kMaxDilation = 4096;

}  // namespace

int64_t VitsShape::hop() const {
  return std::accumulate(upsample_strides.begin(), upsample_strides.end(), int64_t{1},
                         std::multiplies<>());
}

absl::StatusOr<VitsWeights> VitsWeights::Open(const std::filesystem::path& path,
                                              at::Device device) {
  MILLRACE_ASSIGN_OR_RETURN(auto file, models::SafetensorsFile::Open(path));
  VitsWeights weights(std::move(file), device);
  MILLRACE_RETURN_IF_ERROR(weights.ReadShape(path));
  return weights;
}

absl::Status VitsWeights::ReadShape(const std::filesystem::path& path) {
  const auto get = [this](const char* key) {
    const auto found = file().metadata().find(key);
    return found == file().metadata().end() ? std::string() : found->second;
  };
  shape_.upsample_strides = speech::ParseNumbers(get("upsample_strides"), kMaxStride);
  shape_.flow_dilations = speech::ParseNumbers(get("flow_dilations"), kMaxDilation);
  bool complete = !shape_.upsample_strides.empty() && !shape_.flow_dilations.empty();
  for (const std::string& block :
       std::vector<std::string>(absl::StrSplit(get("block_dilations"), ';'))) {
    shape_.block_dilations.push_back(speech::ParseNumbers(block, kMaxDilation));
    complete = complete && !shape_.block_dilations.back().empty();
  }
  int64_t hop = 1;
  for (const int64_t stride : shape_.upsample_strides) {
    hop *= stride;
    if (hop <= kMaxHop) continue;
    return DataLoss(path.string(), ": upsample_strides ",
                    absl::StrJoin(shape_.upsample_strides, " "), " make a frame longer than ",
                    kMaxHop, " samples");
  }
  if (!complete || shape_.block_dilations.size() % shape_.upsample_strides.size() != 0) {
    return DataLoss(path.string(),
                    ": not the weights of a VITS voice: its metadata upsample_strides, "
                    "flow_dilations and block_dilations are ",
                    "missing or wrong");
  }
  return absl::OkStatus();
}

VitsConv TakeConv(VitsWeights& weights, const std::string& name, const std::vector<int64_t>& shape,
                  int64_t dilation) {
  VitsConv conv;
  conv.weight = weights.Take(StrCat(name, ".weight"), shape);
  if (!conv.weight.defined()) return conv;
  conv.bias = weights.TakeIfAny(StrCat(name, ".bias"), {conv.weight.size(0)});
  conv.dilation = dilation;
  return conv;
}

VitsConv TakeSameConv(VitsWeights& weights, const std::string& name,
                      const std::vector<int64_t>& shape, int64_t dilation) {
  VitsConv conv = TakeConv(weights, name, shape, dilation);
  if (conv.weight.defined() && conv.weight.size(2) % 2 == 0) {
    weights.Refuse(name + ".weight",
                   StrCat("has ", conv.weight.size(2), " taps; only an odd number is supported"));
  }
  return conv;
}

void CheckStatistics(VitsWeights& weights, int64_t statistics) {
  if (statistics % 4 == 0) return;
  weights.Refuse("enc_p.proj.weight",
                 StrCat("has ", statistics, " outputs, which is no multiple of 4"));
}

VitsConv TakeUpsampling(VitsWeights& weights, size_t stage, int64_t channels) {
  const std::string name = StrCat("dec.ups.", stage);
  VitsConv conv;
  conv.stride = weights.shape().upsample_strides[stage];
  conv.weight = weights.Take(name + ".weight", {channels, -1, -1});
  if (!conv.weight.defined()) return conv;
  if (conv.weight.size(2) < conv.stride) {
    weights.Refuse(name + ".weight", StrCat("has ", conv.weight.size(2),
                                            " taps, fewer than its stride of ", conv.stride));
  }
  conv.bias = weights.Take(name + ".bias", {conv.weight.size(1)});
  return conv;
}

}  // namespace millrace::vits
