#include "models/kokoro/kokoro_network.h"

#include <algorithm>

#include "models/core/errors.h"
#include "models/kokoro/kokoro_weights.h"
#include "mps_runtime/tensor_device.h"

namespace millrace::kokoro {

absl::StatusOr<KokoroNetwork> KokoroNetwork::Read(const Options& options) {
  KokoroNetwork network;
  MILLRACE_ASSIGN_OR_RETURN(
      auto weights,
      KokoroWeights::Open(options.weights_file, runtime::TensorDevice(options.device)));
  if (options.finite) weights.RequireFinite();
  network.encoder = std::make_unique<KokoroEncoder>(weights, options.padded);
  if (!weights.status().ok()) return weights.status();
  network.decoder = std::make_unique<KokoroDecoder>(weights, options.sample_rate, options.padded,
                                                    options.exact, options.precision);
  if (!weights.status().ok()) return weights.status();
  for (const std::string& voice : options.voices) {
    network.styles.push_back(
        weights.Take("voices." + voice, {-1, 2 * network.decoder->style_channels()}));
    if (!weights.status().ok()) return weights.status();
    if (options.padded) network.styles.back() = network.styles.back().to(at::kCPU);
    if (network.styles.back().size(0) == network.styles.front().size(0)) continue;
    return DataLoss(options.weights_file.string(), ": voices.", voice, " has ",
                    network.styles.back().size(0), " rows, voices.", options.voices.front(),
                    " has ", network.styles.front().size(0));
  }
  network.samples_per_frame = weights.shape().samples_per_frame();
  if (options.padded) {
    network.batch = std::make_unique<KokoroBatch>(*network.encoder, *network.decoder,
                                                  network.samples_per_frame, options.name);
  }
  return network;
}

size_t KokoroNetwork::max_phonemes() const {
  return static_cast<size_t>(std::min(encoder->max_phonemes() - kEndMarks, styles.front().size(0)));
}

}  // namespace millrace::kokoro
