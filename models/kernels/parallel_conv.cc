#include "models/kernels/parallel_conv.h"

#include <algorithm>

#include "models/kernels/narrow_kernels.h"
#include "models/kernels/packed_narrow.h"
#include "models/kernels/parallel_for.h"
#include "models/kernels/scratch.h"

namespace millrace::kernels {
namespace {

// The products of a small part, a tenth of a millisecond or so, and of the largest, within which a
// helper is back at work of its own.
constexpr int64_t kSmallPart = int64_t{4} * 1024 * 1024;
constexpr int64_t kLargePart = 8 * kSmallPart;
// The parts for each thread beyond which they are no smaller than they must be.
constexpr int64_t kPartsOfThread = 16;
// The least rows of a part, since each part reads all the weights of its blocks.
constexpr int64_t kLeastRows = 64;

int64_t DivideUp(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The output channels of a row of `raw` in a block.
int64_t OutputsOfBlock(const ConvTask& task) {
  return task.gate ? kChannelBlock / 2 : kChannelBlock;
}

float* Skip(float* rows, int64_t floats) { return rows == nullptr ? nullptr : rows + floats; }
const float* Skip(const float* rows, int64_t floats) {
  return rows == nullptr ? nullptr : rows + floats;
}

// Returns the part of a task that computes some rows of some blocks.
ConvTask Part(const ConvTask& task, int64_t weights_of_block, int64_t row, int64_t rows,
              int64_t block, int64_t blocks) {
  ConvTask part = task;
  const int64_t at = row * task.output_pitch + block * OutputsOfBlock(task);
  part.input = task.input + row * task.input_pitch;
  part.weights = task.weights + block * weights_of_block;
  part.bias = task.bias + block * kChannelBlock;
  part.rows = rows;
  part.blocks = blocks;
  part.residual = Skip(task.residual, at);
  part.partial = Skip(task.partial, at);
  part.raw = Skip(task.raw, at);
  part.active = Skip(task.active, at);
  return part;
}

// The rows in int8, of some rows of a task, and the sums that a gate takes.
thread_local Scratch narrow_rows;
thread_local Scratch narrow_sums;

const NarrowKernels& Int8Kernels() {
  static const NarrowKernels& best = *SupportedInt8Kernels().front();
  return best;
}

void ConvolveInt8(const ConvTask& task, const ConvKernels& kernels) {
  constexpr int64_t kRows = PackedNarrow::kRowsOfScale;
  const PackedNarrow& narrow = *task.narrow;
  ParallelFor(DivideUp(task.rows, kRows), [&](int64_t index) {
    const int64_t row = index * kRows;
    const ConvTask part = Part(task, 0, row, std::min(kRows, task.rows - row), 0, task.blocks);
    if (!part.gate) {
      narrow.Convolve(Int8Kernels(), part, narrow_rows);
      return;
    }
    float* const sums = narrow_sums.Take(part.rows * narrow.width());
    narrow.Convolve(Int8Kernels(),
                    {.input = part.input,
                     .rows = part.rows,
                     .input_pitch = part.input_pitch,
                     .output_pitch = narrow.width(),
                     .raw = sums},
                    narrow_rows);
    kernels.finish(part, sums);
  });
}

}  // namespace

void ParallelConvolve(const ConvTask& task, const ConvKernels& kernels) {
  if (task.narrow != nullptr) {
    ConvolveInt8(task, kernels);
    return;
  }
  const int64_t products = task.rows * task.blocks * kChannelBlock * task.taps * task.in_channels;
  const int64_t width = products < 2 * kSmallPart ? 1 : ParallelWidth();
  if (width == 1) {
    kernels.convolve(task);
    return;
  }
  const int64_t parts = DivideUp(std::max(std::min(products / kSmallPart, kPartsOfThread * width),
                                          products / kLargePart),
                                 width) *
                        width;
  // Rows are cut first, because each cut between blocks reads the inputs once more.
  const int64_t step = HasWinogradForm(task) ? kWinogradOutputs * task.dilation : kernels.row_step;
  const int64_t rows = DivideUp(std::max(DivideUp(task.rows, parts), kLeastRows), step) * step;
  const int64_t row_parts = DivideUp(task.rows, rows);
  const int64_t block_parts = std::min(DivideUp(parts, row_parts), task.blocks);
  const int64_t weights_of_block = kernels.packed_size(task) / task.blocks;
  ParallelFor(row_parts * block_parts, [&](int64_t part) {
    const int64_t row = part / block_parts * rows;
    const int64_t first = part % block_parts * task.blocks / block_parts;
    const int64_t last = (part % block_parts + 1) * task.blocks / block_parts;
    kernels.convolve(
        Part(task, weights_of_block, row, std::min(rows, task.rows - row), first, last - first));
  });
}

}  // namespace millrace::kernels
