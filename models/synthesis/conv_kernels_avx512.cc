#define MILLRACE_LANES 16
#define MILLRACE_TILE 14  // 28 sums, 2 weights and 2 to spare of the 32 registers
#define MILLRACE_KERNELS kConvKernelsAvx512
#define MILLRACE_KERNELS_NAME "avx512"
#include "models/synthesis/conv_kernels_impl.h"
