#define MILLRACE_VECTOR_BYTES 32
#define MILLRACE_TILE_ROWS 6
#include "models/translation/seq2seq/float_kernels.inl"

namespace millrace::models::kernels {
namespace {

bool Supported() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

}  // namespace

const FloatKernels kAvx2Float = {
    .name = "avx2",
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
