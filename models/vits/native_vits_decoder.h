#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/vits/native_flow.h"
#include "models/vits/native_generator.h"
#include "models/vits/vits_decoder.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::vits {

// The decoder for the CPU: own convolutions on rows of channels, on the calling thread alone.
// Samples depend only on the input, not on the number of threads. Scratch memory is kept for the
// next call: one set for each call that ever ran at the same time.
class NativeVitsDecoder final : public VitsDecoder {
 public:
  NativeVitsDecoder(VitsWeights& weights, int64_t latent);

  std::unique_ptr<Decoding> Start(const Input& input) const override;

 private:
  class Sentence;

  NativeVitsDecoder(VitsWeights& weights, int64_t latent, const at::Tensor& speakers);
  std::unique_ptr<NativeGenerator::Scratch> TakeScratch() const MILLRACE_EXCLUDES(mu_);
  void ReturnScratch(std::unique_ptr<NativeGenerator::Scratch> scratch) const
      MILLRACE_EXCLUDES(mu_);

  const NativeFlow flow_;
  const NativeGenerator generator_;
  mutable Mutex mu_;
  mutable std::vector<std::unique_ptr<NativeGenerator::Scratch>> scratch_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::vits
