#include "server/early_exit.h"

#include <cstdio>

#include "server/logging/logging.h"

namespace millrace {

int Report(const EarlyExit& exit) {
  std::fputs(exit.out.c_str(), stdout);
  if (exit.json_log) {
    logging::Init({.format = LogFormat::kJson});
    logging::LastWords(exit.err);
    logging::Shutdown();
  } else {
    std::fputs(exit.err.c_str(), stderr);
  }
  return ExitStatus(exit.status);
}

int ExitStatus(int status) {
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || status != kExitOk) return status;
  std::fputs("millrace: standard output cannot be written\n", stderr);
  return kExitFailed;
}

}  // namespace millrace
