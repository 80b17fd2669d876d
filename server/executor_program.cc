#include "server/executor_program.h"

#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/speech/speech_cache.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/runtime.h"
#include "server/control/crash_report.h"
#include "server/control/model_safety.h"
#include "server/control/runtime_device.h"
#include "server/control/version.h"
#include "server/cpu_isa.h"
#include "server/executor_setup.h"
#include "server/executors/model_executor.h"
#include "server/local_models.h"
#include "server/logging/logging.h"
#include "server/scheduling/step.h"
#include "server/server_setup.h"

namespace millrace::server {
namespace {

// Has CUDA see one of the cards that it would see, which is then its first one.
absl::Status ShowOneCard(int number) {
  constexpr char kVariable[] = "CUDA_VISIBLE_DEVICES";
  std::string card = StrCat(number);
  if (const char* const visible = std::getenv(kVariable)) {
    const std::vector<std::string> cards = absl::StrSplit(visible, ',');
    if (static_cast<size_t>(number) >= cards.size()) {
      return InvalidArgument("--device: there is no cuda:", number, ", since ", kVariable, " is ",
                             visible);
    }
    card = cards[static_cast<size_t>(number)];
  }
  setenv(kVariable, card.c_str(), /*overwrite=*/1);
  return absl::OkStatus();
}

// The parts of an executor that need libtorch, built from the settings of the front.
class TorchHost final : public ExecutorHost {
 public:
  void ReportCrashes(CrashPage& page) override {
    server::ReportCrashes({.page = &page, .folder = {}, .says_so = false});
  }

  absl::Status Configure(const ServerConfig& config) override {
    logging::Init({.level = config.log_level, .format = config.log_format});
    const bool names_card = !config.device_numbers.empty();
    if (names_card) MILLRACE_RETURN_IF_ERROR(ShowOneCard(config.device_numbers.front()));
    MILLRACE_RETURN_IF_ERROR(LimitCpuIsa(config.cpu_isa));
    // The front has warned of the processor's profile.
    const bool warns = config.device != runtime::DeviceType::kCpu;
    safety_.emplace(MakeSafetyOptions(config, runtime::OperatorNames()),
                    [warns](const std::string& line) {
                      if (warns) logging::Warning(line);
                    });
    try {
      runtime_ = runtime::Runtime::Bootstrap(MakeRuntimeOptions(config, *safety_));
      main_context_ = runtime_->EnterMainThread();
    } catch (const std::exception& error) {
      if (!names_card || config.device != runtime::DeviceType::kCuda) return Internal(error.what());
      return Internal("--device: cuda:", config.device_numbers.front(), ": ", error.what());
    }
    if (runtime_->workers() < config.workers) {
      return InvalidArgument("--workers: ", config.workers,
                             " are more than the device of an executor has, ", runtime_->workers(),
                             ": ", runtime_->why_fewer_workers());
    }
    device_.emplace(*runtime_);
    translations_.emplace(translation::TranslationCache::Limits{config.translation_cache_bytes,
                                                                config.translation_cache_entries});
    speech_.emplace(config.speech_cache_bytes);
    repository_.emplace(config.models, MakeFactory(config, *runtime_,
                                                   {.translations = &*translations_,
                                                    .speech = &*speech_,
                                                    .packed_weights = config.keep_packed_weights}));
    return absl::OkStatus();
  }

  int Cores() const override {
    return static_cast<int>(runtime::AvailableCores() / runtime_->intra_op_threads());
  }
  Device& device() override { return *device_; }

  absl::StatusOr<std::unique_ptr<const models::Model>> Load(std::string_view name,
                                                            int64_t version) override {
    MILLRACE_ASSIGN_OR_RETURN(auto model, repository_->Load(name, version));
    main_context_->Synchronize();
    MILLRACE_RETURN_IF_ERROR(WarmUp(*model, *device_, *main_context_));
    return model;
  }

  void FinishWarmUp() override { runtime_->FinishWarmUp(); }

  void OnFrontGone() override {
    // The processes that models have started are in groups of their own and end with their pipes.
    _exit(0);
  }

 private:
  std::optional<ModelSafety> safety_;
  std::unique_ptr<runtime::Runtime> runtime_;
  std::unique_ptr<runtime::WorkerContext> main_context_;
  std::optional<RuntimeDevice> device_;
  std::optional<translation::TranslationCache> translations_;
  std::optional<speech::SpeechCache> speech_;
  std::optional<models::ModelRepository> repository_;
};

// The front alone decides when an executor ends, by closing its connection: a service manager that
// stops the server sends its signal to all processes, and requests in flight must end first.
void LeaveSignalsToTheFront() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE})
    std::signal(number, SIG_IGN);
}

// The end of the connection tells that the front has gone, but not a process that was stopped.
void EndWithFront() {
#ifdef __linux__
  // The thread of the front that starts an executor lives as long as the executor shall.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

// If the system runs out of memory, an executor is to end and not the front.
void OfferMemory() {
#ifdef __linux__
  std::ofstream("/proc/self/oom_score_adj") << 500;
#endif
}

bool IsSocket(int descriptor) {
  struct stat facts = {};
  return fstat(descriptor, &facts) == 0 && S_ISSOCK(facts.st_mode);
}

}  // namespace

std::optional<int> ExecutorMain(int argc, char** argv) {
  if (argc != 2 || argv[1] != kExecutorArgument) return std::nullopt;
  if (!IsSocket(STDIN_FILENO)) {
    std::fputs("millrace: an executor is started by the server itself\n", stderr);
    return 1;
  }
#ifdef __linux__
  prctl(PR_SET_NAME, "millrace-exec");
#endif
  LeaveSignalsToTheFront();
  EndWithFront();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow then is a write error
  OfferMemory();
  // The processes that models start must not hold the connections open.
  FileDescriptor control(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const FileDescriptor life(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  const FileDescriptor nothing(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (dup2(nothing.get(), STDIN_FILENO) < 0 || dup2(nothing.get(), STDOUT_FILENO) < 0) return 1;
  TorchHost host;
  const absl::Status status = RunExecutor(std::move(control), kVersion, host);
  if (!status.ok()) logging::LastWords(StrCat("executor: ", Message(status)));
  logging::Shutdown();
  // Without the destructors of models: threads of libraries may run.
  _exit(status.ok() ? 0 : 1);
}

}  // namespace millrace::server
