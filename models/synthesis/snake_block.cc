#include "models/synthesis/snake_block.h"

#include "models/synthesis/aten_snake_block.h"

namespace millrace::models {

std::unique_ptr<SnakeBlock> MakeSnakeBlock(TensorReader& weights, const std::string& name,
                                           int64_t channels, int64_t style,
                                           const std::vector<int64_t>& dilations) {
  return std::make_unique<AtenSnakeBlock>(weights, name, channels, style, dilations);
}

}  // namespace millrace::models
