#include "models/kokoro/kokoro_weights.h"

#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "models/core/errors.h"

namespace millrace::kokoro {
namespace {

constexpr int64_t kMaxLayers = 256;
constexpr int64_t kMaxStride = 64;
constexpr int64_t kMaxDilation = 4096;
constexpr int64_t kMaxFft = 4096;
constexpr int64_t kMaxSamples = 65536;  // the samples of one value of the pitch curve

}  // namespace

int64_t KokoroShape::samples_per_pitch() const {
  int64_t samples = fft_hop;
  for (const int64_t stride : upsample_strides) samples *= stride;
  return samples;
}

absl::StatusOr<KokoroWeights> KokoroWeights::Open(const std::filesystem::path& path,
                                                  at::Device device) {
  MILLRACE_ASSIGN_OR_RETURN(auto file, models::SafetensorsFile::Open(path));
  KokoroWeights weights(std::move(file), device);
  MILLRACE_RETURN_IF_ERROR(weights.ReadShape());
  return weights;
}

absl::Status KokoroWeights::ReadShape() {
  const auto get = [this](const char* key) {
    const auto found = file().metadata().find(key);
    return found == file().metadata().end() ? std::string() : found->second;
  };
  const auto wrong = [this](const char* key, const std::string& value) {
    return DataLoss(file().path().string(), ": not the weights of a Kokoro model: its metadata ",
                    key, " is '", value, "'");
  };
  for (const auto& [key, value] : {std::pair{"albert_layers", &shape_.albert_layers},
                                   std::pair{"albert_heads", &shape_.albert_heads}}) {
    const std::vector<int64_t> numbers = speech::ParseNumbers(get(key), kMaxLayers);
    if (numbers.size() != 1) return wrong(key, get(key));
    *value = numbers[0];
  }
  shape_.upsample_strides = speech::ParseNumbers(get("upsample_strides"), kMaxStride);
  if (shape_.upsample_strides.empty()) return wrong("upsample_strides", get("upsample_strides"));
  const std::vector<int64_t> fft = speech::ParseNumbers(get("fft"), kMaxFft);
  if (fft.size() != 2 || fft[0] % 2 != 0 || fft[0] < 2 * fft[1] || fft[0] % fft[1] != 0)
    return wrong("fft", get("fft"));
  shape_.fft_size = fft[0];
  shape_.fft_hop = fft[1];
  int64_t samples = shape_.fft_hop;
  for (const int64_t stride : shape_.upsample_strides) {
    samples *= stride;
    if (samples > kMaxSamples) return wrong("upsample_strides", get("upsample_strides"));
  }
  for (const std::string& block :
       std::vector<std::string>(absl::StrSplit(get("block_dilations"), ';'))) {
    shape_.block_dilations.push_back(speech::ParseNumbers(block, kMaxDilation));
    if (shape_.block_dilations.back().empty())
      return wrong("block_dilations", get("block_dilations"));
  }
  return absl::OkStatus();
}

}  // namespace millrace::kokoro
