#include "tests/fakes/mps/rules.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace millrace::mps_standin {

void Violation(const std::string& message) {
  std::fprintf(stderr, "mps stand-in: %s\n", message.c_str());
  std::abort();
}

bool OnMainThread() { return getpid() == static_cast<pid_t>(syscall(SYS_gettid)); }

void FirstUse::Check() {
  if (seen_) return;
  if (!OnMainThread()) Violation(std::string("first use of ") + what_ + " off the main thread");
  seen_ = true;
}

}  // namespace millrace::mps_standin
