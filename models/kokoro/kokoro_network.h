#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "models/kernels/precision.h"
#include "models/kokoro/kokoro_batch.h"
#include "models/kokoro/kokoro_decoder.h"
#include "models/kokoro/kokoro_encoder.h"
#include "mps_runtime/stream.h"

namespace millrace::kokoro {

// The marks of both ends of a unit's phonemes.
inline constexpr int64_t kEndMarks = 2;

// The network of a model, loaded, with the styles of its voices. Immutable, so thread-safe.
struct KokoroNetwork {
  std::vector<at::Tensor> styles;  // for each voice [phonemes, style]; on the CPU for a batch
  std::unique_ptr<KokoroEncoder> encoder;
  std::unique_ptr<KokoroDecoder> decoder;
  std::unique_ptr<KokoroBatch> batch;  // null: requests are spoken one by one
  int64_t samples_per_frame = 0;

  struct Options {
    std::filesystem::path weights_file;  // safetensors
    std::vector<std::string> voices;     // at least one
    int sample_rate = 0;                 // hertz
    runtime::DeviceType device = runtime::DeviceType::kCpu;
    bool padded = false;  // with a batch
    bool exact = false;   // see KokoroDecoder, also of the next
    kernels::Precision precision = kernels::Precision::kFloat32;
    bool finite = false;  // weights that are not finite are refused
    std::string name;     // the model's name in the graph caches
  };
  // Errors name the file and the tensor.
  static absl::StatusOr<KokoroNetwork> Read(const Options& options);

  // Returns the most phonemes of a unit, without the marks of its ends.
  size_t max_phonemes() const;
};

}  // namespace millrace::kokoro
