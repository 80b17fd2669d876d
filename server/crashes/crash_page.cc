#include "server/crashes/crash_page.h"

#include <execinfo.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#else
#include <fcntl.h>
#include <pthread.h>

#include <cstdio>
#endif

#include <cerrno>
#include <cstring>
#include <type_traits>

#include "absl/debugging/symbolize.h"
#include "models/core/errors.h"
#include "mps_runtime/base/this_program.h"

namespace millrace::server {
namespace {

static_assert(std::is_trivially_copyable_v<CrashPage>);

int64_t ThisThread() {
#ifdef __linux__
  return syscall(SYS_gettid);
#else
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return static_cast<int64_t>(id);
#endif
}

FileDescriptor MakeFileWithoutName() {
#ifdef __linux__
  return FileDescriptor(memfd_create("millrace-crash", MFD_CLOEXEC));
#else
  std::FILE* const file = std::tmpfile();
  if (file == nullptr) return {};
  FileDescriptor descriptor(fcntl(fileno(file), F_DUPFD_CLOEXEC, 0));
  std::fclose(file);
  return descriptor;
#endif
}

absl::Status PageError() {
  return Unavailable("no memory to share with an executor: ", std::strerror(errno));
}

}  // namespace

void PrepareToRecordCrash() {
  static const bool prepared = [] {
    absl::InitializeSymbolizer(ThisProgram().c_str());
    void* frame = nullptr;
    backtrace(&frame, 1);  // the first call loads a library
    return true;
  }();
  static_cast<void>(prepared);
}

void RecordCrash(int signal, const void* address, CrashedThread& crash) {
  crash.address = reinterpret_cast<uintptr_t>(address);
  crash.thread = ThisThread();
  std::array<void*, CrashedThread::kFrames> addresses = {};
  const int frames = backtrace(addresses.data(), static_cast<int>(addresses.size()));
  crash.frames = static_cast<uint32_t>(frames);
  for (size_t i = 0; i < crash.frames; ++i) {
    crash.stack[i].address = reinterpret_cast<uintptr_t>(addresses[i]);
    crash.stack[i].symbol[0] = '\0';
  }
  crash.signal = signal;
  // The rest is there if this, which reads the files of the program, fails too.
  for (size_t i = 0; i < crash.frames; ++i) {
    CrashedThread::Frame& frame = crash.stack[i];
    // A return address may be that of the next function.
    void* const within = static_cast<char*>(addresses[i]) - 1;
    if (!absl::Symbolize(within, frame.symbol.data(), static_cast<int>(frame.symbol.size())))
      frame.symbol[0] = '\0';
  }
}

absl::StatusOr<FileDescriptor> MakeCrashPageFile() {
  FileDescriptor file = MakeFileWithoutName();
  if (file.get() < 0) return PageError();
  // Without room for a page executors serve all the same; their crashes are reported without steps.
  static_cast<void>(ftruncate(file.get(), sizeof(CrashPage)) == 0);
  return file;
}

void UnmapCrashPage::operator()(CrashPage* page) const { munmap(page, sizeof(CrashPage)); }

absl::StatusOr<MappedCrashPage> MapCrashPage(int file) {
  struct stat facts = {};
  const bool has_room =
      fstat(file, &facts) == 0 && facts.st_size >= static_cast<off_t>(sizeof(CrashPage));
  // Memory behind the end of a file must not be touched.
  const int flags = has_room ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  void* const memory = mmap(nullptr, sizeof(CrashPage), PROT_READ | PROT_WRITE, flags,
                            has_room ? file : -1, /*offset=*/0);
  if (memory == MAP_FAILED) return PageError();
  return MappedCrashPage(static_cast<CrashPage*>(memory));
}

std::unique_ptr<CrashPage> ReadCrashPage(int file) {
  auto page = std::make_unique<CrashPage>();
  size_t done = 0;
  while (done < sizeof(CrashPage)) {
    const ssize_t got = pread(file, reinterpret_cast<char*>(page.get()) + done,
                              sizeof(CrashPage) - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  return page;
}

}  // namespace millrace::server
