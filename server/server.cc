#include "server/server.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "grpcpp/security/server_credentials.h"
#include "models/core/strings.h"
#include "models/repository/model_factory.h"
#include "models/repository/model_repository.h"
#include "models/translation/translation_cache.h"
#include "mps_runtime/probe/operator_probe.h"
#include "mps_runtime/runtime.h"
#include "server/connection_listener.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/control/model_safety.h"
#include "server/control/periodic.h"
#include "server/control/runtime_device.h"
#include "server/control/server_status.h"
#include "server/control/systemd.h"
#include "server/grpc_server.h"
#include "server/http/http_server.h"
#include "server/libretranslate/libretranslate_routes.h"
#include "server/logging/logging.h"
#include "server/metrics/metrics.h"
#include "server/openai/openai_routes.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/step.h"
#include "server/scheduling/thread_executor.h"
#include "server/security/api_key_store.h"
#include "server/security/server_credentials.h"
#include "server/services/admin_service.h"
#include "server/services/infer_service.h"
#include "server/services/stream_registry.h"
#include "server/services/synthesis_service.h"
#include "server/services/translation_service.h"
#include "server/version.h"

namespace millrace::server {
namespace {

// Requests admitted and not answered, over all models: their queues bound the waiting ones, this
// bounds what is parked and running.
constexpr int64_t kMaxRequests = 65'536;

// Over HTTP; the longest text that may be spoken takes a quarter of it.
constexpr size_t kMaxHttpBody = 1 << 20;

// After a drain the last replies may still be on their way to their clients.
constexpr std::chrono::seconds kFlushTime{1};

constexpr std::chrono::seconds kHousekeepingInterval{1};

ModelSafety::Options MakeSafetyOptions(const ServerConfig& config) {
  const bool named = !config.safety_profile.empty();
  return {.file = named ? config.safety_profile : DefaultSafetyProfile(config.models),
          .file_was_named = named,
          .models = config.models,
          .operators = runtime::OperatorNames()};
}

// `safety` must outlive the bootstrap.
runtime::RuntimeOptions MakeRuntimeOptions(const ServerConfig& config, ModelSafety& safety) {
  runtime::RuntimeOptions options;
  options.measured_concurrency = [&safety](const runtime::DeviceFacts& facts) {
    return safety.Measured(facts);
  };
  options.device = config.device;
  options.mode = config.mode;
  options.workers = config.workers;
  if (config.max_in_flight != 0) options.max_in_flight = config.max_in_flight;
  options.accept_unsafe_concurrency = config.accept_unsafe_concurrency;
  options.intra_op_threads = config.intra_op_threads;
  options.graph_cache = {.max_entries = config.graph_cache_entries,
                         .max_bytes = config.graph_cache_bytes};
  options.graph_cache_policy = config.graph_cache;
  options.new_shape = config.graph_cache_new_shape;
  options.max_compiled_shapes = config.graph_cache_entries;
  options.require_libtorch = config.require_libtorch;
  return options;
}

// `translations` must outlive the models.
models::ModelFactory MakeFactory(const ServerConfig& config, const runtime::Runtime& runtime,
                                 models::TranslationCache& translations) {
  const bool few_shapes = runtime.max_compiled_shapes() != 0 ||
                          config.graph_cache == runtime::GraphCachePolicy::kFrozen;
  return models::MakeModelFactory(runtime.device(), few_shapes, &translations);
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> MakeCredentials(
    const ServerConfig& config) {
  if (config.tls_cert.empty()) return grpc::InsecureServerCredentials();
  return MakeTlsServerCredentials({config.tls_cert, config.tls_key, config.tls_client_ca});
}

absl::Status WritePortFile(const ServerConfig& config, int grpc_port, int http_port,
                           int metrics_port) {
  if (config.port_file.empty()) return absl::OkStatus();
  // Written beside and renamed, so that a reader never sees half of it.
  const std::string partial = config.port_file.string() + ".partial";
  {
    std::ofstream file(partial, std::ios::trunc);
    file << "{\"grpc\": " << grpc_port << ", \"http\": " << http_port
         << ", \"metrics\": " << metrics_port << "}\n";
    file.close();
    if (!file)
      return absl::UnavailableError(
          StrCat("--port-file ", config.port_file.string(), ": cannot be written"));
  }
  std::error_code error;
  std::filesystem::rename(partial, config.port_file, error);
  if (error)
    return absl::UnavailableError(
        StrCat("--port-file ", config.port_file.string(), ": ", error.message()));
  return absl::OkStatus();
}

// Everything of a serving process, in the order in which it is built; destroyed in the opposite
// order, so that what borrows goes before what it borrows from. Main thread only.
class Server {
 public:
  explicit Server(const ServerConfig& config)
      : config_(config),
        safety_(MakeSafetyOptions(config), [](const std::string& line) { logging::Warning(line); }),
        runtime_(runtime::Runtime::Bootstrap(MakeRuntimeOptions(config, safety_))),
        device_(*runtime_),
        main_context_(runtime_->EnterMainThread()),
        translations_({config.translation_cache_bytes, config.translation_cache_entries}),
        repository_(config.models, MakeFactory(config, *runtime_, translations_)),
        metrics_({.version = kVersion,
                  .libtorch = runtime_->provenance().libtorch_version,
                  .device = runtime_->provenance().device,
                  .mode = std::string(runtime::ToString(runtime_->mode()))}),
        scheduler_({.default_queue_size = config.queue_size, .workers = runtime_->workers()}),
        models_(repository_, device_, *main_context_, scheduler_, metrics_, directory_,
                [this](const auto& package) { return MayServe(package); }),
        status_(*runtime_, models_, directory_, scheduler_, admission_, runtime_->workers()),
        streams_(config.write_stall_timeout) {
    metrics_.SetSnapshot([this] {
      Snapshot snapshot = status_.Gauges();
      snapshot.translations = translations_.stats();
      return snapshot;
    });
  }

  ~Server() {
    // After a failure nobody called Stop; the workers must end all the same.
    status_.SetReady(false);
    main_loop_.CloseTasks();
    for (auto& job : scheduler_.Close())
      FinishJob(std::move(job), absl::UnavailableError("the server failed"));
    // A scrape must not read what is being taken down.
    metrics_.SetSnapshot(nullptr);
  }

  absl::Status Start() {
    logging::Info("runtime", {{"provenance", runtime::ToLogLine(runtime_->provenance())}});
    if (safety_.holds()) {
      logging::Info("safety profile", {{"file", safety_.file().string()},
                                       {"permits", runtime_->limiter().permits()},
                                       {"limited_by", safety_.limited_by()}});
    }
    if (runtime_->workers() < config_.workers) {
      logging::Warning("fewer workers than asked for", {{"workers", runtime_->workers()},
                                                        {"asked", config_.workers},
                                                        {"reason", runtime_->why_fewer_workers()}});
    }
    if (config_.graph_cache == runtime::GraphCachePolicy::kFrozen &&
        runtime_->device() == runtime::DeviceType::kCpu) {
      logging::Warning("--graph-cache frozen has no effect: nothing is compiled on the CPU");
    }
    if (!config_.api_keys.empty()) {
      auto keys = ApiKeyStore::Open(config_.api_keys);
      if (!keys.ok()) return keys.status();
      keys_ = *std::move(keys);
    }
    auto credentials = MakeCredentials(config_);
    if (!credentials.ok()) return credentials.status();

    auto listener = ConnectionListener::Bind(config_.grpc_address, config_.max_connections);
    if (!listener.ok()) return listener.status();

    services_.emplace(Services{.admission = admission_,
                               .scheduler = scheduler_,
                               .models = directory_,
                               .streams = streams_,
                               .no_model_metrics = *no_model_metrics_,
                               .keys = keys_.get(),
                               .max_request_time = config_.max_request_time,
                               .max_buffered_bytes = config_.max_buffered_bytes});

    // Health and metrics answer from here on: live, not ready.
    int metrics_port = 0;
    if (!config_.metrics_address.empty()) {
      auto port = metrics_.Expose(config_.metrics_address);
      if (!port.ok()) return port.status();
      metrics_port = *port;
    }
    if (!config_.http_address.empty()) {
      http_ = std::make_unique<HttpServer>(
          HttpServer::Options{.address = config_.http_address,
                              .max_body_bytes = kMaxHttpBody,
                              .write_timeout = config_.write_stall_timeout});
      AddKServeRoutes(*http_, status_, keys_.get());
      const auto started = [this] { return started_.load(); };
      AddOpenAiRoutes(*http_, *services_, {.started = started});
      AddLibreTranslateRoutes(*http_, *services_, {.started = started});
      if (absl::Status status = http_->Start(); !status.ok()) return status;
    }

    const auto stopping = [] { return MainLoop::signals() != 0; };
    if (absl::Status status = models_.LoadAll(stopping); !status.ok() || stopping()) return status;
    // Workers only start once the main thread has warmed up every model.
    const auto loaded = directory_.All();
    executor_ = std::make_unique<ThreadExecutor>(runtime_->workers(), device_, scheduler_);
    if (absl::Status status = executor_->Start(loaded); !status.ok() || stopping()) return status;
    runtime_->FinishWarmUp();

    infer_.emplace(*services_, [this] { return status_.Ready(); });
    translation_.emplace(*services_);
    synthesis_.emplace(*services_);
    admin_.emplace(*services_, models_, status_, main_loop_);
    auto grpc = GrpcServer::Listen(config_, *std::move(listener), *std::move(credentials),
                                   {&*infer_, &*translation_, &*synthesis_, &*admin_});
    if (!grpc.ok()) return grpc.status();
    grpc_ = *std::move(grpc);
    housekeeping_.emplace(kHousekeepingInterval, [this] { EndOverdue(); });

    started_ = true;
    status_.SetReady(true);
    grpc_->SetServing(true);
    if (absl::Status status =
            WritePortFile(config_, grpc_->port(), http_ ? http_->port() : 0, metrics_port);
        !status.ok())
      return status;
    NotifySystemd("READY=1");
    logging::Info("serving", {{"grpc_port", grpc_->port()},
                              {"http_port", http_ ? http_->port() : 0},
                              {"metrics_port", metrics_port},
                              {"models", static_cast<int64_t>(loaded.size())},
                              {"workers", runtime_->workers()},
                              {"permits", runtime_->limiter().permits()},
                              {"permits_source", runtime_->safe_concurrency_source()}});
    return absl::OkStatus();
  }

  void RunUntilSignal() {
    const int signal = main_loop_.RunUntilSignal();
    logging::Info("stopping", {{"signal", signal}});
  }

  // NOT_SERVING, drain delay, end what runs by the deadline, then workers, streams and the rest. A
  // second signal cuts the waiting short. Also undoes a Start that failed halfway.
  void Stop() {
    NotifySystemd("STOPPING=1");
    status_.SetReady(false);
    bool patient = true;
    if (grpc_ != nullptr) {
      grpc_->SetServing(false);
      // Load balancers need a moment to see that and send no more.
      patient = main_loop_.WaitWithoutSignal(config_.drain_delay);
    }
    admission_.Close();
    const bool drained = grpc_ != nullptr && patient && Drain();
    const int64_t unfinished = admission_.in_flight();
    main_loop_.CloseTasks();
    for (auto& job : scheduler_.Close())
      FinishJob(std::move(job), absl::UnavailableError("the server is shutting down"));
    // Cancels the calls that are left, which stops their work at its next step, and waits for the
    // last of them.
    if (grpc_ != nullptr) {
      grpc_->Shutdown(std::chrono::system_clock::now() +
                      (drained ? kFlushTime : std::chrono::seconds(0)));
    }
    housekeeping_.reset();
    if (executor_ != nullptr) executor_->Join();
    if (http_ != nullptr) http_->Stop();
    logging::Info("stopped", {{"unfinished", unfinished}});
  }

 private:
  // Waits for the admitted requests in short turns, so that a signal is seen. Whether all ended.
  bool Drain() {
    const auto end = std::chrono::steady_clock::now() + config_.drain_timeout;
    const int signals = MainLoop::signals();
    while (std::chrono::steady_clock::now() < end && MainLoop::signals() == signals) {
      const auto turn =
          std::min(end, std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
      if (admission_.WaitUntilEmpty(turn)) return true;
    }
    return admission_.in_flight() == 0;
  }

  // Ends what nothing else would end while all workers are busy: calls whose client does not read,
  // and waiting ones past the server's own limit, which gRPC does not know. On a thread of its own,
  // since the main one may be loading a model.
  void EndOverdue() {
    streams_.AbortStalled(Clock::Real().Now());
    for (auto& job : scheduler_.TakeExpired()) {
      FinishJob(std::move(job),
                absl::DeadlineExceededError("the deadline passed while the request waited"));
    }
  }

  // A model that the permits in force could break is refused, unless the operator accepts that.
  absl::Status MayServe(const models::ModelRepository::Package& package) {
    absl::Status status = safety_.Check(package, runtime_->limiter().permits());
    if (status.ok() || !config_.accept_unsafe_concurrency) return status;
    logging::Warning("served all the same", {{"reason", Message(status)}});
    return absl::OkStatus();
  }

  const ServerConfig config_;
  MainLoop main_loop_;
  ModelSafety safety_;
  const std::unique_ptr<runtime::Runtime> runtime_;
  RuntimeDevice device_;
  const std::unique_ptr<runtime::WorkerContext> main_context_;
  models::TranslationCache translations_;
  const models::ModelRepository repository_;
  Metrics metrics_;
  const std::shared_ptr<ModelMetrics> no_model_metrics_ = metrics_.ForModel("");
  Admission admission_{kMaxRequests};
  Scheduler scheduler_;
  ModelDirectory directory_;
  ModelManager models_;
  ServerStatus status_;
  StreamRegistry streams_;
  std::unique_ptr<ApiKeyStore> keys_;
  std::optional<Services> services_;
  std::atomic<bool> started_{false};
  std::unique_ptr<HttpServer> http_;
  std::unique_ptr<ThreadExecutor> executor_;
  std::optional<InferService> infer_;
  std::optional<TranslationService> translation_;
  std::optional<SynthesisService> synthesis_;
  std::optional<AdminService> admin_;
  std::unique_ptr<GrpcServer> grpc_;
  std::optional<Periodic> housekeeping_;
};

void PrintError(std::string_view message) {
  std::fprintf(stderr, "millrace: %.*s\n", static_cast<int>(message.size()), message.data());
}

// Whether the model loads and answers its own warm-up inputs.
absl::Status CheckModel(const models::ModelRepository& repository, const std::string& name,
                        Device& device, runtime::WorkerContext& context) {
  try {
    const auto model = repository.Load(name);
    return model.ok() ? WarmUp(**model, device, context) : model.status();
  } catch (const std::exception& error) {
    return absl::InternalError(error.what());
  }
}

}  // namespace

int Serve(const ServerConfig& config) {
  logging::Init({.level = config.log_level, .format = config.log_format});
  absl::Status status;
  try {
    Server server(config);
    status = server.Start();
    if (status.ok()) server.RunUntilSignal();
    server.Stop();
  } catch (const std::exception& error) {
    status = absl::InternalError(error.what());
  }
  logging::Shutdown();
  if (!status.ok()) PrintError(Message(status));
  return status.ok() ? 0 : 1;
}

int Check(const ServerConfig& config) {
  int failures = 0;
  const auto report = [&failures](std::string_view what, const absl::Status& status) {
    std::printf("%s  %.*s%s%s\n", status.ok() ? "ok    " : "FAILED", static_cast<int>(what.size()),
                what.data(), status.ok() ? "" : ": ", std::string(Message(status)).c_str());
    failures += !status.ok();
  };
  logging::Init({.level = LogLevel::kOff, .format = config.log_format});
  try {
    report("configuration", Validate(config));
    if (!config.api_keys.empty())
      report(StrCat("API keys ", config.api_keys.string()),
             ApiKeyStore::Open(config.api_keys).status());
    if (!config.tls_cert.empty())
      report(StrCat("TLS ", config.tls_cert.string()), MakeCredentials(config).status());
    const ModelSafety::Options safety_options = MakeSafetyOptions(config);
    // A profile that does not hold is no reason not to start.
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
    models::TranslationCache translations({});
    const models::ModelRepository repository(config.models,
                                             MakeFactory(config, *runtime, translations));
    const auto entries = repository.List();
    report(StrCat("models ", config.models.string()), repository.Check());
    if (entries.ok()) {
      RuntimeDevice device(*runtime);
      for (const auto& entry : *entries) {
        report(StrCat("model ", entry.name, " version ", entry.versions.back()),
               CheckModel(repository, entry.name, device, *context));
      }
    }
  } catch (const std::exception& error) {
    report("device", absl::InternalError(error.what()));
  }
  logging::Shutdown();
  return failures == 0 ? 0 : 1;
}

}  // namespace millrace::server
