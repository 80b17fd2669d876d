#include "server/check.h"

#include <chrono>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/instruction_set.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/base/log_sink.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/runtime.h"
#include "server/control/model_safety.h"
#include "server/control/runtime_device.h"
#include "server/cpu_isa.h"
#include "server/local_models.h"
#include "server/logging/logging.h"
#include "server/scheduling/step.h"
#include "server/security/api_key_store.h"
#include "server/server_setup.h"

namespace millrace::server {
namespace {

// Checks whether the model loads and answers its own warm-up inputs.
absl::Status CheckModel(const models::ModelRepository& repository,
                        const models::ModelRepository::Entry& entry, Device& device,
                        runtime::WorkerContext& context) {
  try {
    MILLRACE_ASSIGN_OR_RETURN(const auto package, repository.Find(entry));
    const auto model = repository.Load(package);
    return model.ok() ? WarmUp(**model, device, context) : model.status();
  } catch (const std::exception& error) {
    return Internal(error.what());
  }
}

}  // namespace

int Check(const ServerConfig& config) {
  int failures = 0;
  const auto report = [&failures](std::string_view what, const absl::Status& status) {
    std::printf("%s  %.*s%s%s\n", status.ok() ? "ok    " : "FAILED", static_cast<int>(what.size()),
                what.data(), status.ok() ? "" : ": ", std::string(Message(status)).c_str());
    failures += !status.ok();
  };
  logging::Init({.level = LogLevel::kOff, .format = config.log_format});
  SetLogSink(nullptr);  // the messages of models appear between the findings
  try {
    report("configuration", Validate(config));
    if (config.cpu_isa)
      report(StrCat("CPU ISA ", kernels::ToString(*config.cpu_isa)), LimitCpuIsa(config.cpu_isa));
    if (!config.api_keys.empty())
      report(StrCat("API keys ", config.api_keys.string()),
             ApiKeyStore::Open(config.api_keys).status());
    if (!config.policy.empty())
      report(StrCat("policy ", config.policy.string()), OpenPolicy(config, nullptr).status());
    if (const OpenAccess access = AdminAccess(config); !access.who.empty())
      std::printf("%s %s\n", access.is_warning ? "warning" : "note   ", access.who.c_str());
    if (!config.tls_cert.empty())
      report(StrCat("TLS ", config.tls_cert.string()),
             ReadTlsFiles(TlsFilesOf(config), std::chrono::system_clock::now()).status());
    const ModelSafety::Options safety_options = MakeSafetyOptions(config, runtime::OperatorNames());
    // A profile that does not apply does not prevent the start.
    ModelSafety safety(safety_options,
                       [](const std::string& line) { std::printf("warning %s\n", line.c_str()); });
    const auto runtime = runtime::Runtime::Bootstrap(MakeRuntimeOptions(config, safety));
    report(StrCat("device ", runtime->provenance().device, " (", runtime->provenance().device_name,
                  "), libtorch ", runtime->provenance().libtorch_version),
           absl::OkStatus());
    if (safety.holds()) {
      report(StrCat("safety profile ", safety_options.file.string(), ": ",
                    runtime->limiter().permits(), " forwards at once"),
             absl::OkStatus());
    }
    const auto context = runtime->EnterMainThread();
    const models::ModelRepository repository(config.models,
                                             MakeFactory(config, *runtime, /*caches=*/{}));
    const auto entries = repository.List();
    report(StrCat("models ", config.models), repository.Check());
    for (const std::string& line : repository.Ignored()) std::printf("warning %s\n", line.c_str());
    if (entries.ok()) {
      RuntimeDevice device(*runtime);
      for (const auto& entry : *entries) {
        report(StrCat("model ", entry.name, " version ", entry.versions.back()),
               CheckModel(repository, entry, device, *context));
      }
    }
  } catch (const std::exception& error) {
    report("device", Internal(error.what()));
  }
  logging::Shutdown();
  return failures == 0 ? 0 : 1;
}

}  // namespace millrace::server
