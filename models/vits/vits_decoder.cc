#include "models/vits/vits_decoder.h"

#include <cmath>
#include <numeric>
#include <utility>

#include "models/vits/aten_vits_decoder.h"
#include "models/vits/cpu_vits_decoder.h"

namespace millrace::vits {

std::unique_ptr<VitsDecoder> MakeVitsDecoder(VitsWeights& weights, int64_t latent,
                                             at::Device device, std::string model,
                                             kernels::Precision precision) {
  if (device.is_cpu()) return std::make_unique<CpuVitsDecoder>(weights, latent, precision);
  return std::make_unique<AtenVitsDecoder>(weights, latent, std::move(model));
}

int64_t VitsDecoder::Input::TotalFrames() const {
  return std::accumulate(frames.begin(), frames.end(), int64_t{0});
}

void VitsDecoder::Input::DrawLatents(int64_t second_half, int64_t pitch, float* rows) const {
  const int64_t latent = statistics.size(1) / 2;
  const int64_t half = latent / 2;
  const float* means = statistics.const_data_ptr<float>();
  const float* drawn = noise.data();
  std::vector<float> deviations(static_cast<size_t>(latent));
  for (const int64_t repeats : frames) {
    for (int64_t c = 0; c < latent; ++c) {
      deviations[static_cast<size_t>(c)] = std::exp(means[latent + c]) * noise_scale;
    }
    for (int64_t i = 0; i < repeats; ++i, rows += pitch, drawn += latent) {
      for (int64_t c = 0; c < latent; ++c) {
        rows[c < half ? c : second_half + c - half] =
            means[c] + drawn[c] * deviations[static_cast<size_t>(c)];
      }
    }
    means += 2 * latent;
  }
}

}  // namespace millrace::vits
