#include <dlfcn.h>

#include "mps_runtime/runtime.h"
#include "mps_runtime/selftest/support.h"
#include "mps_runtime/stream_symbols.h"

namespace millrace::runtime {
namespace {

bool IsExported(const char* symbol) { return dlsym(RTLD_DEFAULT, symbol) != nullptr; }

}  // namespace

SupportFacts ReadSupportFacts(Runtime& runtime) {
  return {.device = runtime.device(),
          .provenance = runtime.provenance(),
          .mode = runtime.mode(),
          .permits = runtime.limiter().permits(),
          .permits_source = std::string(runtime.safe_concurrency_source()),
          .sets_thread_stream = IsExported(kSetCurrentStream),
          .waits_for_all_streams = IsExported(kSynchronizeAllStreams),
          .keeps_errors_by_stream = IsExported(kCheckLastError),
          .has_profiler = IsExported(kGetProfiler)};
}

}  // namespace millrace::runtime
