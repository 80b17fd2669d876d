#include "models/kokoro/snake_block.h"

#include "models/kokoro/aten_snake_block.h"
#include "models/kokoro/cpu_snake_block.h"

namespace millrace::kokoro {

std::unique_ptr<SnakeBlock> MakeSnakeBlock(speech::TensorReader& weights, const std::string& name,
                                           int64_t channels, int64_t style,
                                           const std::vector<int64_t>& dilations,
                                           kernels::Precision precision) {
  if (weights.device().is_cpu())
    return std::make_unique<CpuSnakeBlock>(weights, name, channels, style, dilations, precision);
  return std::make_unique<AtenSnakeBlock>(weights, name, channels, style, dilations);
}

}  // namespace millrace::kokoro
