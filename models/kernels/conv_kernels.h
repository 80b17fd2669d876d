#pragma once

#include <cstdint>
#include <span>

#include "models/kernels/target.h"

// The inner loops of the decoders of VITS and Kokoro on the CPU. This header has plain C arrays
// only: some files that include it are compiled for newer processors, and no function that they
// share with other files may be compiled there.
namespace millrace::kernels {

class PackedNarrow;

// The number of output channels that are computed together; packed weights and rows are padded to a
// multiple.
inline constexpr int64_t kChannelBlock = 32;

// A 1-d convolution over rows of channels (time is the row index): for each row t and output
// channel o
//   v = bias[o] + sum over tap k and channel c of input[t + k * dilation][c] * weights[k][c][o]
// then, in this order, what the pointers ask for. Sums run in one fixed order, so a value does not
// depend on which rows are computed together with it; for a task with `winograd`, see
// HasWinogradForm. All row pointers are those of row 0.
struct ConvTask {
  const float* input = nullptr;    // rows of `input_pitch` floats
  const float* weights = nullptr;  // packed by `pack`
  const float* bias = nullptr;     // padded to a multiple of kChannelBlock
  int64_t rows = 0;
  int64_t input_pitch = 0;
  int64_t output_pitch = 0;  // the pitch of all rows of results
  int64_t taps = 1;
  int64_t dilation = 1;  // in rows
  int64_t in_channels = 0;
  int64_t blocks = 0;  // each has kChannelBlock output channels
  bool exact = false;  // products are exact to the last bits of float32, see product_error
  // Sums may be computed by Winograd's minimal filtering, see HasWinogradForm.
  bool winograd = false;
  const float* residual = nullptr;  // v += residual
  const float* partial = nullptr;   // v += partial
  float scale = 1.0F;               // v *= scale
  float* raw = nullptr;             // raw = v
  float* active = nullptr;          // active = leaky ReLU of v
  float slope = 0.0F;               // the leaky ReLU's
  // A block's channels are 16 values x and 16 values y; tanh(x) * sigmoid(y) is stored at `raw`, 16
  // channels for each block.
  bool gate = false;
  // Null, or int8 weights in place of `weights`: then only ParallelConvolve computes the task.
  const PackedNarrow* narrow = nullptr;
};

// Returns true if a task is computed by minimal filtering where no matrix unit is faster: by a half
// to a quarter of the products, with up to fifty times the error of float32 sums. A value then
// depends on the remainder of its row by kWinogradOutputs * dilation, so a task may be cut at
// multiples of that.
bool HasWinogradForm(const ConvTask& task);

// The rows that are computed together.
inline constexpr int kWinogradOutputs = 6;

// A scaled and shifted signal after a snake activation: for each row t and channel c
//   y = input[t][c] * scale[c] + shift[c]
//   output[t][c] = y + sin(alpha[c] * y)^2 * inverse_alpha[c]
// Rows lie back to back; `channels` is a multiple of 16. |alpha[c] * y| must be below 10^6.
struct SnakeTask {
  const float* input = nullptr;
  float* output = nullptr;  // may be the input
  int64_t rows = 0;
  int64_t channels = 0;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* alpha = nullptr;
  const float* inverse_alpha = nullptr;
};

struct ConvKernels {
  const char* name;  // the name of the instruction set
  Target target;
  // The largest relative error of a float32 product unless the task is exact; 0 where all products
  // are exact.
  float product_error;
  int64_t row_step;  // rows that are computed together: parts of a task best have a multiple
  // Returns true if convolve computes such a task by minimal filtering, so that cuts matter.
  // Ignores its pointers.
  bool (*filters)(const ConvTask& task);
  // Returns the number of floats of the packed weights of such a task; ignores its pointers.
  int64_t (*packed_size)(const ConvTask& task);
  // Packs task.weights, in the order [block][tap][in channel][kChannelBlock], for convolve.
  // `packed` must be aligned to 64 bytes.
  void (*pack)(const ConvTask& task, float* packed);
  void (*convolve)(const ConvTask& task);
  // Does what a task asks for with sums of its products that were computed elsewhere: contiguous
  // rows of blocks * kChannelBlock floats.
  void (*finish)(const ConvTask& task, const float* sums);
  // Computes output[t] = tanh(sum of count weights * input[t * pitch + i]): a convolution with one
  // output channel over contiguous rows. count must be a multiple of 16.
  void (*tanh_dot)(const float* input, int64_t pitch, const float* weights, int64_t count,
                   float bias, float* output, int64_t rows);
  void (*snake)(const SnakeTask& task);
  // Computes for each channel over contiguous rows: sums[c] = sum of input[t][c] - center[c], and
  // squares[c], the sum of their squares. `channels` must be a multiple of 16.
  void (*moments)(const float* input, int64_t rows, int64_t channels, const float* center,
                  float* sums, float* squares);
};

extern const ConvKernels kConvKernelsPortable;
#if defined(__x86_64__)
extern const ConvKernels kConvKernelsAvx2;
extern const ConvKernels kConvKernelsAvx512;
extern const ConvKernels kConvKernelsAmx;
#elif defined(__aarch64__)
extern const ConvKernels kConvKernelsNeon;
#endif

// Returns the fastest set that this processor can run. Constant for the life of the process.
const ConvKernels& GetConvKernels();

// Returns the sets of this build that this CPU can run, best first; kConvKernelsPortable is always
// among them.
std::span<const ConvKernels* const> SupportedConvKernels();

}  // namespace millrace::kernels
