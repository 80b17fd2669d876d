#include "mps_runtime/library_caches.h"

#include <cstdlib>

namespace millrace::runtime {

void BoundLibraryCaches() {
  constexpr int kKeepTheOperators = 0;
  // The default is 1024. A network of fixed shapes has fewer; speech has others for each length.
  setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", kKeepTheOperators);
  // The allocator keeps freed buffers for a while itself, and gives them to whoever comes next.
  setenv("MKL_DISABLE_FAST_MM", "1", kKeepTheOperators);
}

}  // namespace millrace::runtime
