// The server program, which has the commands that need libtorch. `millrace` executes it for them.
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "models/probe/model_probe.h"
#include "mps_runtime/base/startup_pages.h"
#include "mps_runtime/library_caches.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/selftest/program.h"
#include "server/calibrate/calibrate.h"
#include "server/check.h"
#include "server/config/command_line.h"
#include "server/early_exit.h"
#include "server/executor_program.h"
#include "server/executor_setup.h"
#include "server/local_models.h"
#include "server/print_version.h"
#include "server/server.h"
#include "server/server_program.h"

namespace millrace {
namespace {

// Runs a command. Returns the exit status.
class Run {
 public:
  explicit Run(char** argv) : argv_(argv) {}

  int operator()(const ServeCommand& command) const {
    if (command.print_config) return InMillrace("serve --print-config");
    // `millrace` starts the front program where it knows that there are executors.
    return server::Serve(command.config, command.config.executors > 0 ? server::RemoteCompute()
                                                                      : server::LocalCompute());
  }
  int operator()(const CheckCommand& command) const { return server::Check(command.config); }
  int operator()(const CalibrateCommand& command) const { return RunCalibrate(command); }
  int operator()(const SelftestCommand& command) const {
    runtime::SelftestProgram program;
    program.options.device = command.device;
    program.filter = command.filter;
    program.json = command.json;
    program.list = command.list;
    program.options.require_patch_level = command.require_patch_level;
    return runtime::RunSelftestProgram(program);
  }
  int operator()(const VersionCommand&) const {
    PrintVersion(runtime::ReadLibtorchProvenance());
    return kExitOk;
  }
  // A user started this program directly for one of the other commands, which are clients.
  int operator()(const auto&) const { return InMillrace(argv_[1]); }

 private:
  static int InMillrace(const char* command) {
    std::fprintf(stderr, "%s: this program has no clients: run `millrace %s`\n", kServerProgram,
                 command);
    return kExitUsage;
  }

  char** const argv_;
};

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
#ifdef __linux__
  // Tools that find a process by its name, such as killall, know the daemon as `millrace`.
  prctl(PR_SET_NAME, "millrace");
#endif
  // The program started itself again, to try what may crash.
  if (const auto status = millrace::runtime::OperatorProbeMain(argc, argv)) return *status;
  if (const auto status = millrace::models::ModelProbeMain(argc, argv)) return *status;
  // Debian builds Abseil with its lock-order checks on; inside gRPC they cost several percent of
  // every call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  millrace::runtime::BoundLibraryCaches();
  millrace::ReleaseStartupPages();
  if (const auto status = millrace::server::ExecutorMain(argc, argv)) return *status;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = millrace::ParseCommandLine(arguments, millrace::ProcessEnvironment());
  if (const auto* exit = std::get_if<millrace::EarlyExit>(&parsed)) return millrace::Report(*exit);
  return millrace::ExitStatus(std::visit(millrace::Run(argv), std::get<millrace::Command>(parsed)));
}
