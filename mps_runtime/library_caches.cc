#include "mps_runtime/library_caches.h"

#include <cstdlib>

namespace millrace::runtime {

void BoundLibraryCaches() {
  constexpr int kKeepTheOperators = 0;
  // Of 1024, the default, one of speech takes a hundred kilobytes and more.
  setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "128", kKeepTheOperators);
  // The allocator keeps freed buffers for a while itself, and gives them to whoever comes next.
  setenv("MKL_DISABLE_FAST_MM", "1", kKeepTheOperators);
}

}  // namespace millrace::runtime
