#define MILLRACE_LANES 8
#define MILLRACE_TILE 3  // 12 sums of the 16 registers
#define MILLRACE_KERNELS kConvKernelsAvx2
#define MILLRACE_KERNELS_NAME "avx2"
#include "models/synthesis/conv_kernels_impl.h"
