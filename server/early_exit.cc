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
  return exit.status;
}

}  // namespace millrace
