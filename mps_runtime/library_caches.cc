#include "mps_runtime/library_caches.h"

#include <cstdlib>

namespace millrace::runtime {

void BoundLibraryCaches() {
  constexpr int kKeepTheOperators = 0;
  // The default is 1024. A network with fixed shapes needs fewer entries; speech has new shapes for
  // each length.
  setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", kKeepTheOperators);
  // The allocator itself keeps freed buffers for a while and reuses them for any caller.
  setenv("MKL_DISABLE_FAST_MM", "1", kKeepTheOperators);
}

}  // namespace millrace::runtime
