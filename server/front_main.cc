// The front program: a server whose models are in executors. `millrace` executes it for `serve
// --executors`. It does not link libtorch, which could end it, and whose loading takes longer than
// the rest of its start.
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "server/config/command_line.h"
#include "server/early_exit.h"
#include "server/executor_setup.h"
#include "server/server.h"
#include "server/server_program.h"

int main(int argc, char** argv) {
#ifdef __linux__
  // Tools that find a process by its name, such as killall, know the daemon as `millrace`.
  prctl(PR_SET_NAME, "millrace");
#endif
  // Debian builds Abseil with its lock-order checks on; inside gRPC they cost several percent of
  // every call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = millrace::ParseCommandLine(arguments, millrace::ProcessEnvironment());
  if (const auto* exit = std::get_if<millrace::EarlyExit>(&parsed)) return millrace::Report(*exit);
  const auto* serve = std::get_if<millrace::ServeCommand>(&std::get<millrace::Command>(parsed));
  if (serve == nullptr || serve->print_config || serve->config.executors == 0) {
    std::fprintf(stderr,
                 "%s: this program only serves with --executors of 1 or more: run `millrace`\n",
                 millrace::kFrontProgram);
    return millrace::kExitUsage;
  }
  return millrace::server::Serve(serve->config, millrace::server::RemoteCompute());
}
