#include "server/server.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/kernels/target.h"
#include "models/repository/model_repository.h"
#include "models/repository/package_size.h"
#include "models/speech/speech_cache.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/base/cpu_info.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/base/startup_pages.h"
#include "mps_runtime/runtime.h"
#include "server/allocator.h"
#include "server/connection_listener.h"
#include "server/control/crash_report.h"
#include "server/control/freed_memory.h"
#include "server/control/idle_models.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/control/model_safety.h"
#include "server/control/periodic.h"
#include "server/control/port_file.h"
#include "server/control/reload_hook.h"
#include "server/control/runtime_device.h"
#include "server/control/runtime_metrics.h"
#include "server/control/server_status.h"
#include "server/control/shutdown_sequence.h"
#include "server/control/signal_watch.h"
#include "server/control/systemd.h"
#include "server/control/version.h"
#include "server/cpu_isa.h"
#include "server/crashes/crash_folder.h"
#include "server/crashes/flight_recorder.h"
#include "server/executor_setup.h"
#include "server/executors/executor_pool.h"
#include "server/frontends/built_in_front_ends.h"
#include "server/frontends/front_end.h"
#include "server/grpc_server.h"
#include "server/http2/connection_guard.h"
#include "server/http_front_ends.h"
#include "server/limits/key_limits.h"
#include "server/limits/usage_report.h"
#include "server/logging/logging.h"
#include "server/metrics/metrics.h"
#include "server/model_actions.h"
#include "server/port_servers.h"
#include "server/requests/stream_registry.h"
#include "server/rpc/call_refusals.h"
#include "server/rpc/grpc_log.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/step_timeline.h"
#include "server/scheduling/thread_executor.h"
#include "server/security/api_key_store.h"
#include "server/server_program.h"
#include "server/server_setup.h"
#include "server/sockets/inherited_sockets.h"
#include "server/sockets/poll_loop.h"

namespace millrace::server {
namespace {

// The most requests that are admitted and not answered, over all models: their queues bound the
// waiting ones, this bounds those that are parked and running.
constexpr int64_t kMaxRequests = 65'536;

// The time for gRPC to release connections that have ended.
constexpr std::chrono::seconds kFlushTime{1};

// The time, after the drain's is over, for the steps that run: each is then the last of its
// request.
constexpr std::chrono::seconds kLastStepTime{3};

constexpr std::chrono::seconds kHousekeepingInterval{1};

// The time, at the end, for the last traces to reach their collector.
constexpr std::chrono::seconds kTraceFlushTime{1};

// Everything of a serving process, in the order in which it is built. It is destroyed in the
// opposite order, so that a borrower is destroyed before what it borrows. Main thread only.
class Server {
 public:
  // main_loop, shutdown, crashes, flight: must outlive this. crashes: null if no report is written.
  // sockets: those that the service manager passed.
  Server(const ServerConfig& config, const Compute& compute, InheritedSockets sockets,
         MainLoop& main_loop, ShutdownSequence& shutdown, CrashFolder* crashes,
         FlightRecord& flight)
      : config_(config),
        sockets_(std::move(sockets)),
        main_loop_(main_loop),
        shutdown_(shutdown),
        recorder_(flight),
        safety_(MakeSafetyOptions(config, compute.operators),
                [](const std::string& line) { logging::Warning(line); }),
        runtime_(runtime::Runtime::Bootstrap(compute.local_models != nullptr
                                                 ? MakeRuntimeOptions(config, safety_)
                                                 : MakeFrontOptions(config, safety_),
                                             compute.platform)),
        device_(*runtime_),
        main_context_(runtime_->EnterMainThread()),
        translations_({config.translation_cache_bytes, config.translation_cache_entries}),
        speech_(config.speech_cache_bytes),
        executors_(compute.local_models != nullptr
                       ? nullptr
                       : std::make_unique<ExecutorPool>(
                             MakeExecutorOptions(config, runtime_->workers(), crashes), launcher_)),
        repository_(config.models,
                    executors_ != nullptr
                        ? MakeRemoteFactory(*executors_)
                        : compute.local_models(config, *runtime_,
                                               {.translations = &translations_,
                                                .speech = &speech_,
                                                .packed_weights = config.keep_packed_weights})),
        metrics_({.version = kVersion,
                  .libtorch = runtime_->provenance().libtorch_version,
                  .device = runtime_->provenance().device,
                  .mode = std::string(runtime::ToString(runtime_->mode())),
                  .cpu_isa = kernels::ToString(kernels::BestInstructionSet()),
                  .mps_patch_level = runtime_->provenance().mps_patch_level},
                 config.max_request_time),
        scheduler_({.default_queue_size = config.queue_size,
                    .workers = runtime_->workers(),
                    .cores = runtime::AvailableCores() / runtime_->intra_op_threads()}),
        models_(repository_, device_, *main_context_, scheduler_, metrics_, directory_,
                [this](const auto& package) { return MayServe(package); }),
        idle_models_(
            {.unload_after = config.unload_idle_after, .memory_budget = config.model_memory_budget},
            models_, directory_, scheduler_, main_loop),
        status_(*runtime_, models_, directory_, scheduler_, admission_, runtime_->workers()),
        streams_(config.write_stall_timeout) {
    metrics_.AddOwner([this](MetricWriter& writer) { Collect(writer); });
  }

  ~Server() {
    // After a failure, Stop was not called, but the workers must still end.
    shutdown_.Await();
    status_.SetReady(false);
    main_loop_.CloseTasks();
    if (executors_ != nullptr) executors_->EndWaits();
    for (auto& job : scheduler_.Close())
      FinishJob(std::move(job), Unavailable("the server failed"));
    models_.SetListener(nullptr);
    // A scrape must not read what is being destroyed.
    metrics_.RemoveOwners();
  }

  absl::Status Start() {
    LogRuntime(config_, *runtime_, safety_);
    if (!config_.api_keys.empty()) {
      MILLRACE_ASSIGN_OR_RETURN(keys_, ApiKeyStore::Open(config_.api_keys));
    }
    MILLRACE_ASSIGN_OR_RETURN(policy_, OpenPolicy(config_, keys_.get()));
    MILLRACE_ASSIGN_OR_RETURN(tls_, OpenTls(config_));

    ConnectionGuard::Process().Configure(GuardLimits(config_), /*tls=*/tls_ != nullptr);
    MILLRACE_ASSIGN_OR_RETURN(auto listener, BindGrpc(config_, sockets_));

    MILLRACE_ASSIGN_OR_RETURN(traces_, StartTraces(config_));
    services_.emplace(Services{.admission = admission_,
                               .scheduler = scheduler_,
                               .models = directory_,
                               .streams = streams_,
                               .no_model_metrics = *no_model_metrics_,
                               .keys = keys_.get(),
                               .max_request_time = config_.max_request_time,
                               .max_buffered_bytes = config_.max_buffered_bytes,
                               .max_translate_characters = config_.max_translate_characters,
                               .voice_aliases = config_.voice_aliases,
                               .limits = policy_ != nullptr ? &policy_->limits() : nullptr,
                               .tracer = traces_ != nullptr ? &traces_->tracer() : nullptr});

    // Health and metrics are answered from here on: live, not ready.
    parts_.emplace(FrontEndParts{.config = config_,
                                 .services = *services_,
                                 .view = status_,
                                 .metrics = metrics_,
                                 .steps = steps_,
                                 .session_loop = session_loop_,
                                 .repository = actions_.MakeRepositoryActions(),
                                 .shelf = actions_.MakeShelf(),
                                 .pulls = [this] { return actions_.pulls().Pulls(); },
                                 .started = [this] { return started_.load(); },
                                 .control = &control_});
    MILLRACE_RETURN_IF_ERROR(http_.Start(*parts_, front_ends_));
    MILLRACE_RETURN_IF_ERROR(port_servers_.Start(*parts_, front_ends_, sockets_));

    const auto stopping = [this] { return shutdown_.requested(); };
    MILLRACE_RETURN_IF_ERROR(PullFirst(config_, stopping));
    if (stopping()) return absl::OkStatus();
    MILLRACE_RETURN_IF_ERROR(StartExecutors());
    if (absl::Status status = models_.LoadAll(stopping); !status.ok() || stopping()) return status;
    // Workers start only after the main thread has warmed up every model.
    const auto loaded = directory_.All();
    logging::Info("starting workers", {{"workers", runtime_->workers()}});
    executor_ = std::make_unique<ThreadExecutor>(runtime_->workers(), device_, scheduler_, &steps_,
                                                 &recorder_);
    if (absl::Status status = executor_->Start(loaded); !status.ok() || stopping()) return status;
    runtime_->FinishWarmUp();

    for (const FrontEnd* front_end : front_ends_) {
      if (front_end->add_services != nullptr) front_end->add_services(*parts_, grpc_parts_);
    }
    MILLRACE_ASSIGN_OR_RETURN(
        grpc_, GrpcServer::Listen(config_, std::move(listener),
                                  tls_ != nullptr ? tls_ : grpc::InsecureServerCredentials(),
                                  grpc_parts_, keys_.get(), call_refusals_));
    models_.SetListener([this](std::string_view model, std::optional<bool> ready) {
      grpc_->SetModelHealth(model, ready);
      ShowServing();
    });
    housekeeping_.emplace(kHousekeepingInterval, [this] {
      EndOverdue();
      CheckPolling();
      freed_memory_.Update(ConnectionGuard::Process().counts().Refusals(),
                           std::chrono::steady_clock::now());
      if (executors_ != nullptr) CheckExecutors();
      if (idle_models_.enabled()) idle_models_.Sweep();
    });

    ReleaseStartupPages();
    started_ = true;
    status_.SetReady(true);
    ShowServing();
    const Ports ports{grpc_->port(), http_.port(), http_.metrics_port(), port_servers_.Ports()};
    MILLRACE_RETURN_IF_ERROR(WritePortFile(config_.port_file, ports));
    NotifySystemd("READY=1");
    LogServing(ports, loaded.size(), *runtime_);
    return absl::OkStatus();
  }

  // Drains: sets NOT_SERVING, waits for the drain delay, lets requests run until the deadline, and
  // ends the rest. A second signal shortens the waits. Runs once, after Start, perhaps while the
  // main thread loads a model.
  void Drain() {
    NotifySystemd("STOPPING=1");
    status_.SetReady(false);
    http_.CloseConnections();
    idle_models_.Stop();
    if (grpc_ != nullptr) {
      ShowServing();
      // Load balancers need a moment to notice that and stop sending requests.
      shutdown_.WaitUnlessForced(config_.drain_delay);
    }
    // The next process accepts the connections that come from now on.
    if (grpc_ != nullptr && sockets_.Find(kGrpcSocket) >= 0) grpc_->StopAccepting();
    admission_.Close();
    http_.Drain();
    if (grpc_ != nullptr) WaitUntilEmpty(config_.drain_timeout);
    unfinished_ = admission_.in_flight();
    actions_.pulls().Stop();
    main_loop_.CloseTasks();
    if (executors_ != nullptr) executors_->EndWaits();
    for (auto& job : scheduler_.Close()) {
      const absl::Status status = ShutdownStatus(*job);
      FinishJob(std::move(job), status);
    }
    // Running requests end with the same status after their current step.
    admission_.WaitUntilEmpty(std::chrono::steady_clock::now() +
                              (shutdown_.forced() ? std::chrono::seconds(1) : kLastStepTime));
  }

  // Stops calls, workers, streams and the rest, after Drain. Also undoes a Start that failed
  // halfway. Main thread.
  void Stop() {
    shutdown_.Await();
    if (grpc_parts_.end_streams != nullptr) grpc_parts_.end_streams();
    housekeeping_.reset();
    if (grpc_ != nullptr) grpc_->Shutdown(std::chrono::system_clock::now() + kFlushTime);
    if (executor_ != nullptr) executor_->Join();
    http_.Stop();
    port_servers_.Stop();
    if (traces_ != nullptr) traces_->Stop(kTraceFlushTime);
    logging::Info("stopped", {{"unfinished", unfinished_}});
  }

  // Returns why the server ended by itself; OK if it did not. After Stop.
  const absl::Status& failure() const { return failure_; }

  // Handles SIGHUP while the server runs, one at a time: on the signal thread, or for a signal that
  // came while the server started on the main thread.
  void Reload() {
    logging::Info("reloading keys and certificates");
    // Errors are logged, and the previous keys stay in use.
    if (keys_ != nullptr) keys_->Reload().IgnoreError();
    if (policy_ != nullptr) policy_->Reload().IgnoreError();
    if (tls_ != nullptr) tls_->Reload();
  }

 private:
  // Collects the metrics of all owners but models, in the order of the page. Thread-safe.
  void Collect(MetricWriter& writer) const {
    status_.Collect(writer);
    server::Collect(*runtime_, writer);
    CollectTranslationCache(translations_.stats(), writer);
    CollectSpeechCache(speech_.stats(), writer);
    ConnectionGuard::Process().Collect(writer);
    call_refusals_.Collect(writer);
    http_.Collect(writer);
    tracing::TraceExport::Collect(traces_.get(), writer);
    models_.Collect(writer);
    idle_models_.Collect(writer);
    CollectExecutors(executors_.get(), writer);
    if (services_ && services_->limits != nullptr)
      CollectKeys(services_->limits->Usage(), scheduler_.key_seconds(), writer);
  }

  // Waits for the admitted requests in short intervals, so that a second signal is noticed.
  void WaitUntilEmpty(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end && !shutdown_.forced()) {
      const auto turn =
          std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
      if (admission_.WaitUntilEmpty(turn)) return;
    }
  }

  // Ends requests that nothing else would end while all workers are busy: calls whose client does
  // not read, and waiting ones past the server's own limit, which gRPC does not know. Runs on a
  // thread of its own, because the main thread may be loading a model.
  void EndOverdue() {
    streams_.AbortStalled(Clock::Real().Now());
    for (auto& job : scheduler_.TakeExpired()) {
      FinishJob(std::move(job),
                absl::DeadlineExceededError("the deadline passed while the request waited"));
    }
  }

  // Lets load balancers go elsewhere while gRPC's calls are not answered.
  void CheckPolling() {
    const Duration delay = grpc_->PollingDelay(Clock::Real().Now());
    status_.SetPollingDelay(delay);
    if (delay < ServerStatus::kStalled) PingSystemd();
    ShowServing();
  }

  absl::Status StartExecutors() {
    if (executors_ == nullptr) return absl::OkStatus();
    WarnOfMemory(config_, repository_);
    logging::Info("starting executors", {{"executors", config_.executors}});
    return executors_->Start();
  }

  // Lets load balancers go elsewhere while there is nothing that computes.
  void CheckExecutors() {
    const ExecutorPool::Stats stats = executors_->stats();
    status_.SetTimeWithoutExecutor(stats.without);
    status_.SetDegraded(DescribeDegraded(stats));
    ShowServing();
    if (!stats.gave_up || !failure_.ok()) return;
    failure_ =
        Internal("the last ", config_.executor_restart_limit,
                 " executors died, or could not be started, before they had completed a step "
                 "(--executor-restart-limit)");
    logging::Error("the server ends", {{"reason", Message(failure_)}});
    executors_->EndWaits();
    main_loop_.Stop();
  }

  // Tells grpc.health whether the server is ready.
  void ShowServing() MILLRACE_EXCLUDES(serving_mu_) {
    MutexLock lock(serving_mu_);
    if (const bool ready = status_.Ready(); std::exchange(shown_serving_, ready) != ready)
      grpc_->SetServing(ready);
  }

  // Refuses a model that the permits in force could break, unless the operator accepts that. Makes
  // room for one that is to be loaded.
  absl::Status MayServe(const models::ModelRepository::Package& package) {
    absl::Status status = safety_.Check(package, runtime_->limiter().permits());
    if (!status.ok()) {
      if (!config_.accept_unsafe_concurrency) return status;
      logging::Warning("served all the same", {{"reason", Message(status)}});
    }
    if (idle_models_.enabled()) idle_models_.MakeRoomFor(package.name, models::SizeOf(package));
    return absl::OkStatus();
  }

  const ServerConfig config_;
  const InheritedSockets sockets_;
  MainLoop& main_loop_;
  ShutdownSequence& shutdown_;
  FlightRecorder recorder_;
  ModelSafety safety_;
  const std::unique_ptr<runtime::Runtime> runtime_;
  RuntimeDevice device_;
  const std::unique_ptr<runtime::WorkerContext> main_context_;
  translation::TranslationCache translations_;
  speech::SpeechCache speech_;
  const ProgramBeside executor_program_{kServerProgram};
  ProgramLauncher launcher_{executor_program_.path(), std::string(kExecutorArgument)};
  const std::unique_ptr<ExecutorPool> executors_;  // null: models are in this process
  const models::ModelRepository repository_;
  Metrics metrics_;
  const std::shared_ptr<ModelMetrics> no_model_metrics_ = metrics_.ForModel("");
  std::unique_ptr<tracing::TraceExport> traces_;  // null: requests are not traced
  Admission admission_{kMaxRequests};
  Scheduler scheduler_;
  ModelDirectory directory_;
  ModelManager models_;
  IdleModels idle_models_;
  ModelActions actions_{config_,
                        repository_,
                        models_,
                        main_loop_,
                        *no_model_metrics_,
                        {.started = [this] { return started_.load(); },
                         .stopping = [this] { return shutdown_.requested(); }}};
  ServerStatus status_;
  StreamRegistry streams_;
  std::unique_ptr<ApiKeyStore> keys_;
  std::unique_ptr<PolicyFile> policy_;
  std::shared_ptr<TlsServerCredentials> tls_;  // null: gRPC in plain text
  std::optional<Services> services_;
  std::atomic<bool> started_{false};
  StepTimeline steps_{runtime_->workers()};
  PollLoop session_loop_;  // for WebSockets and Wyoming, whose sessions only move bytes
  const std::span<const FrontEnd* const> front_ends_ = BuiltInFrontEnds();
  const FrontEndParts::Control control_ = {
      models_, status_, actions_.loads(),
      executors_ != nullptr ? &executors_->convicted() : nullptr};
  std::optional<FrontEndParts> parts_;
  HttpFrontEnds http_{config_, sockets_, session_loop_};
  PortServers port_servers_;
  std::unique_ptr<ThreadExecutor> executor_;
  GrpcParts grpc_parts_;
  CallRefusals call_refusals_;
  std::unique_ptr<GrpcServer> grpc_;
  absl::Status failure_;  // the housekeeping thread sets it
  Mutex serving_mu_;
  bool shown_serving_ MILLRACE_GUARDED_BY(serving_mu_) = false;
  FreedMemory freed_memory_{&KeepFreedMemoryFor};  // housekeeping's thread
  std::optional<Periodic> housekeeping_;
  int64_t unfinished_ =
      0;  // requests that were left when the drain's time was over; used by Drain's thread
};

}  // namespace

int Serve(const ServerConfig& config, const Compute& compute) {
  logging::Init({.level = config.log_level, .format = config.log_format});
  RouteGrpcLog();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow then is a write error
  static CrashPage crash_page;
  const std::unique_ptr<CrashFolder> crashes = OpenCrashFolder(config);
  ReportCrashes({.page = &crash_page,
                 .folder = crashes != nullptr ? config.crash_directory.string() : std::string()});
  absl::Status status;
  MainLoop main_loop;
  ReloadHook reload;
  ExitGuard guard;
  ShutdownSequence shutdown([&main_loop] { main_loop.Stop(); }, guard, ExitGuard::ExitNow);
  {
    const SignalWatch signals(
        {.stop = [&shutdown](int signal) { shutdown.OnSignal(signal); },
         .reload = [&reload] { reload.Call(); },
         .log_details =
             [usual = config.log_level](bool details) {
               logging::SetLevel(details ? std::min(usual, LogLevel::kDebug) : usual);
               logging::Info("log level changed", {{"level", details ? "debug" : "as configured"}});
             }});
    try {
      ServerConfig effective = config;
      absl::StatusOr<InheritedSockets> sockets = TakeSockets(effective, BuiltInFrontEnds());
      status = sockets.ok() ? LimitCpuIsa(config.cpu_isa) : sockets.status();
      if (status.ok()) {
        Server server(effective, compute, *std::move(sockets), main_loop, shutdown, crashes.get(),
                      crash_page.flight);
        status = server.Start();
        shutdown.SetDrain([&server] { server.Drain(); });
        if (status.ok()) {
          const ReloadHook::Use use(reload, [&server] { server.Reload(); });
          main_loop.Run();
        }
        server.Stop();
        status.Update(server.failure());
      }
    } catch (const std::exception& error) {
      status = Internal(error.what());
    }
  }
  if (!status.ok()) logging::LastWords(Message(status));
  logging::Shutdown();
  return status.ok() ? shutdown.exit_status() : 1;
}

}  // namespace millrace::server
