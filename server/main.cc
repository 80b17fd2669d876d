#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "models/probe/model_probe.h"
#include "mps_runtime/library_caches.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/provenance.h"
#include "mps_runtime/selftest/program.h"
#include "server/calibrate/calibrate.h"
#include "server/client/client.h"
#include "server/config/command_line.h"
#include "server/logging/logging.h"
#include "server/server.h"
#include "server/version.h"

namespace millrace {
namespace {

int Run(const ServeCommand& command) {
  if (!command.print_config) return server::Serve(command.config);
  std::fputs(PrintConfig(command.config, command.origins).c_str(), stdout);
  return kExitOk;
}
int Run(const CheckCommand& command) { return server::Check(command.config); }
int Run(const CalibrateCommand& command) { return RunCalibrate(command); }
int Run(const ModelsCommand& command) { return RunModels(command); }
int Run(const TranslateCommand& command) { return RunTranslate(command); }
int Run(const SynthesizeCommand& command) { return RunSynthesize(command); }
int Run(const BenchNullCommand& command) { return RunBenchNull(command); }
int Run(const HashKeyCommand& command) { return RunHashKey(command); }
int Run(const SelftestCommand& command) {
  runtime::SelftestProgram program;
  program.options.device = command.device;
  program.filter = command.filter;
  program.json = command.json;
  program.list = command.list;
  return runtime::RunSelftestProgram(program);
}
int Run(const VersionCommand&) {
  const runtime::Provenance provenance = runtime::ReadLibtorchProvenance();
  std::printf("millrace %s\nlibtorch %s (%s) from %s\ncompiled against libtorch %s\n", kVersion,
              provenance.libtorch_version.c_str(), provenance.libtorch_git_revision.c_str(),
              provenance.libtorch_path.c_str(), provenance.compiled_against.c_str());
  return kExitOk;
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  // Started again by itself, to try what may crash.
  if (const auto status = millrace::runtime::OperatorProbeMain(argc, argv)) return *status;
  if (const auto status = millrace::models::ModelProbeMain(argc, argv)) return *status;
  // Debian builds Abseil with its lock-order checks on; inside gRPC they cost several percent of
  // every call.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  millrace::runtime::BoundLibraryCaches();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  auto parsed = millrace::ParseCommandLine(arguments, millrace::ProcessEnvironment());
  if (const auto* exit = std::get_if<millrace::EarlyExit>(&parsed)) {
    std::fputs(exit->out.c_str(), stdout);
    if (exit->json_log) {
      millrace::logging::Init({.format = millrace::LogFormat::kJson});
      millrace::logging::LastWords(exit->err);
      millrace::logging::Shutdown();
    } else {
      std::fputs(exit->err.c_str(), stderr);
    }
    return exit->status;
  }
  return std::visit([](const auto& command) { return millrace::Run(command); },
                    std::get<millrace::Command>(parsed));
}
