#include "mps_runtime/base/startup_pages.h"

#ifdef __linux__
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace millrace {
namespace {

// Smaller segments hold too little to be worth a call.
constexpr uint64_t kLargeSegment = uint64_t{1} << 20;

int ReleaseReadOnly(dl_phdr_info* library, size_t /*size*/, void* /*unused*/) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    // The loader has written to the segments that are writable here when it relocated the library.
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    if (segment.p_filesz < kLargeSegment) continue;
    const uintptr_t address = library->dlpi_addr + segment.p_vaddr;
    const uintptr_t begin = (address + page - 1) / page * page;
    const uintptr_t end = (address + segment.p_filesz) / page * page;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void ReleaseStartupPages() { dl_iterate_phdr(&ReleaseReadOnly, nullptr); }

}  // namespace millrace
#else
namespace millrace {
void ReleaseStartupPages() {}
}  // namespace millrace
#endif
