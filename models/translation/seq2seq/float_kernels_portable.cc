#define MILLRACE_VECTOR_BYTES 16
#define MILLRACE_TILE_ROWS 4
#include "models/translation/seq2seq/float_kernels.inl"

namespace millrace::models::kernels {
namespace {

bool Supported() { return true; }

}  // namespace

const FloatKernels kPortableFloat = {
    .name = "portable",
    .supported = &Supported,
    .multiply = &Multiply,
    .attend = &AttendFloat,
    .norm = &Norm,
    .add = &Add,
    .relu = &Relu,
    .swish = &Swish,
    .log_sum_exp = &LogSumExp,
};

}  // namespace millrace::models::kernels
