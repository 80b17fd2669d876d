// The program that users call: it contains the clients, and becomes the server program, or the
// front of executors, for other commands. It does not link libtorch, whose loading takes far longer
// than all that a client does.
#include <cstdio>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "models/core/strings.h"
#include "mps_runtime/find_libtorch.h"
#include "server/client/client.h"
#include "server/config/command_line.h"
#include "server/early_exit.h"
#include "server/print_version.h"
#include "server/server_program.h"
#include "server/standard_streams.h"

namespace millrace {
namespace {

// Runs a command, some of them by becoming the server program. Returns the exit status.
class Run {
 public:
  explicit Run(char** argv) : argv_(argv) {}

  int operator()(const ServeCommand& command) const {
    if (!command.print_config) {
      return Become(command.config.executors > 0 ? kFrontProgram : kServerProgram,
                    command.config.log_format);
    }
    std::fputs(PrintConfig(command.config, command.origins).c_str(), stdout);
    return kExitOk;
  }
  int operator()(const CheckCommand&) const { return InServerProgram(); }
  int operator()(const CalibrateCommand&) const { return InServerProgram(); }
  int operator()(const SelftestCommand&) const { return InServerProgram(); }
  int operator()(const VersionCommand&) const {
    const std::optional<runtime::Provenance> libtorch = runtime::FindLibtorch();
    if (!libtorch) return InServerProgram();
    PrintVersion(*libtorch);
    return kExitOk;
  }
  int operator()(const ModelsCommand& command) const { return RunModels(command); }
  int operator()(const PackageCommand& command) const { return RunPackage(command); }
  int operator()(const LoadCommand& command) const { return RunLoad(command); }
  int operator()(const UnloadCommand& command) const { return RunUnload(command); }
  int operator()(const UsageCommand& command) const { return RunUsage(command); }
  int operator()(const ConvictedCommand& command) const { return RunConvicted(command); }
  int operator()(const CrashesCommand& command) const { return RunCrashes(command); }
  int operator()(const TranslateCommand& command) const { return RunTranslate(command); }
  int operator()(const SynthesizeCommand& command) const { return RunSynthesize(command); }
  int operator()(const BenchNullCommand& command) const { return RunBenchNull(command); }
  int operator()(const TraceCommand& command) const { return RunTrace(command); }
  int operator()(const HashKeyCommand& command) const { return RunHashKey(command); }
  int operator()(const CompletionCommand& command) const { return RunCompletion(command); }

 private:
  int InServerProgram() const { return Become(kServerProgram, LogFormat::kText); }

  int Become(const char* program, LogFormat format) const {
    const std::string error = ExecBeside(program, argv_);
    const bool json = format == LogFormat::kJson;
    return Report({.status = kExitFailed,
                   .out = "",
                   .err = json ? error : StrCat("millrace: ", error, "\n"),
                   .json_log = json});
  }

  char** const argv_;
};

#ifdef __linux__
// Libraries open descriptors as they are loaded, before main.
[[gnu::used,
  gnu::section(".preinit_array")]] void (*const kBeforeLibraries)() = HoldStandardStreams;
#endif

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  millrace::HoldStandardStreams();
  // Debian builds Abseil with its lock-order checks on; inside gRPC they cost several percent of
  // every call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = millrace::ParseClientCommandLine(arguments, millrace::ProcessEnvironment());
  if (const auto* exit = std::get_if<millrace::EarlyExit>(&parsed)) return millrace::Report(*exit);
  return millrace::ExitStatus(std::visit(millrace::Run(argv), std::get<millrace::Command>(parsed)));
}
