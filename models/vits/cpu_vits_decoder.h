#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "models/kernels/precision.h"
#include "models/vits/flow.h"
#include "models/vits/generator.h"
#include "models/vits/vits_decoder.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::vits {

// The decoder for the CPU: our own convolutions on rows of channels, by kernels::ParallelFor.
// Samples depend only on the input, not on the number of threads. Scratch memory is kept for later
// calls: one set for each call that ever ran at the same time.
class CpuVitsDecoder final : public VitsDecoder {
 public:
  // precision: float32, or int8 for what takes most of the time, see Flow and Generator.
  CpuVitsDecoder(VitsWeights& weights, int64_t latent,
                 kernels::Precision precision = kernels::Precision::kFloat32);

  std::unique_ptr<Decoding> Start(const Input& input) const override;

 private:
  class Sentence;

  CpuVitsDecoder(VitsWeights& weights, int64_t latent, const at::Tensor& speakers,
                 kernels::Precision precision);
  std::unique_ptr<Generator::Scratch> TakeScratch() const MILLRACE_EXCLUDES(mu_);
  void ReturnScratch(std::unique_ptr<Generator::Scratch> scratch) const MILLRACE_EXCLUDES(mu_);

  const Flow flow_;
  const Generator generator_;
  mutable Mutex mu_;
  mutable std::vector<std::unique_ptr<Generator::Scratch>> scratch_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::vits
