#include "server/http_front_ends.h"

#include <cstddef>
#include <map>
#include <utility>

#include "models/core/strings.h"
#include "server/frontends/console/console_routes.h"
#include "server/frontends/deepl/deepl_routes.h"
#include "server/frontends/elevenlabs/elevenlabs_routes.h"
#include "server/frontends/http/http_translator.h"
#include "server/frontends/kserve/kserve_routes.h"
#include "server/frontends/kserve/rest_infer_routes.h"
#include "server/frontends/kserve/statistics_routes.h"
#include "server/frontends/libretranslate/libretranslate_routes.h"
#include "server/frontends/openai/openai_routes.h"
#include "server/frontends/openapi/openapi_routes.h"
#include "server/frontends/prometheus/metrics_routes.h"
#include "server/frontends/translation_plugins/plugin_routes.h"
#include "server/frontends/vllm_omni/vllm_omni_routes.h"
#include "server/server_setup.h"

namespace millrace::server {
namespace {

// The longest HTTP body in bytes, but for tensors. The longest text that may be spoken takes a
// quarter of it.
constexpr size_t kMaxHttpBody = 1 << 20;

LiveView::Device DeviceOf(runtime::Runtime& runtime) {
  return {.name = runtime.provenance().device,
          .permits = runtime.limiter().permits(),
          .permits_in_use = runtime.limiter().in_use(),
          .streams = runtime.stream_pool().stats(),
          .memory_bytes = runtime.device_bytes(),
          .graph_cache = runtime.graph_cache_stats()};
}

}  // namespace

HttpFrontEnds::HttpFrontEnds(const ServerConfig& config, const InheritedSockets& sockets)
    : config_(config),
      sockets_(sockets),
      web_sockets_(
          {.max_connections = config.max_websockets,
           .max_connections_of_peer = config.max_websockets_per_peer,
           .connection = {.limits = {.max_message_bytes = config.max_websocket_message_bytes},
                          .stall_timeout = config.write_stall_timeout}}) {}

absl::Status HttpFrontEnds::Start(Sources sources) {
  if (!config_.metrics_address.empty()) {
    HttpServer::Options options = MetricsServerOptions(config_.metrics_address);
    options.inherited = sockets_.Find(kMetricsSocket);
    options.checks_host = true;  // which never asks for a key
    options.allowed_hosts = config_.allowed_hosts;
    metrics_http_ = std::make_unique<HttpServer>(std::move(options));
    AddMetricsRoute(*metrics_http_, sources.metrics);
    if (absl::Status status = metrics_http_->Start(); !status.ok()) return status;
  }
  if (!config_.http_address.empty()) {
    http_ = std::make_unique<HttpServer>(
        HttpServer::Options{.address = config_.http_address,
                            .inherited = sockets_.Find(kHttpSocket),
                            .max_body_bytes = kMaxHttpBody,
                            .write_timeout = config_.write_stall_timeout,
                            .cors_origins = config_.cors_origins,
                            .checks_host = config_.api_keys.empty(),
                            .allowed_hosts = config_.allowed_hosts});
    if (absl::Status status = web_sockets_.Start(); !status.ok()) return status;
    AddRoutes(std::move(sources));
    if (absl::Status status = http_->Start(); !status.ok()) return status;
  }
  started_ = true;
  return absl::OkStatus();
}

void HttpFrontEnds::AddRoutes(Sources sources) {
  // Its path for all models comes before the pattern for the name of one.
  AddStatisticsRoutes(*http_, sources.services);
  AddKServeRoutes(*http_, sources.status, sources.keys);
  const SharedPathHandler elevenlabs_models = AddElevenLabsRoutes(
      *http_, web_sockets_, sources.services,
      {.idle_timeout = config_.websocket_idle_timeout, .started = sources.started});
  AddVllmOmniRoutes(*http_, web_sockets_, sources.services,
                    {.idle_timeout = config_.websocket_idle_timeout, .started = sources.started});
  AddOpenAiRoutes(*http_, sources.services,
                  {.other_models = elevenlabs_models, .started = sources.started});
  const auto translator = std::make_shared<HttpTranslator>(
      sources.services, HttpTranslator::Options{.started = sources.started});
  AddLibreTranslateRoutes(*http_, sources.services, translator,
                          AddTranslationPluginRoutes(*http_, sources.services, translator));
  AddDeepLRoutes(*http_, sources.services, translator);
  AddRestInferRoutes(*http_, sources.services,
                     {.max_body_bytes = config_.max_message_bytes, .started = sources.started});
  // Certificates, which HTTP does not ask for, are no reason to let everybody in by it.
  const bool loads_models = sources.keys != nullptr || config_.tls_client_ca.empty();
  if (loads_models) AddRepositoryRoutes(*http_, std::move(sources.repository), sources.keys);
  if (config_.console) {
    AddConsoleRoutes(
        *http_,
        std::make_shared<LiveView>(LiveView::Sources{
            .view = sources.status,
            .services = sources.services,
            .steps = sources.steps,
            .device = [&status = sources.status] { return DeviceOf(status.runtime()); },
            .loads_models = loads_models,
            .pulls = std::move(sources.pulls)}),
        std::make_shared<ShelfView>(std::move(sources.shelf)), sources.keys, sources.started);
  }
  // It describes those above.
  AddOpenApiRoutes(*http_);
}

void HttpFrontEnds::Collect(MetricWriter& writer) const {
  if (started_) {
    std::map<int, uint64_t> refusals;
    for (const HttpServer* server : {http_.get(), metrics_http_.get()}) {
      if (server == nullptr) continue;
      for (const auto& [status, count] : server->CountRefusals()) refusals[status] += count;
    }
    MetricWriter::Family refused = writer.Counters(
        "millrace_http_refused_total",
        "HTTP requests that were refused for want of a key or a right, or before they reached a "
        "handler, by status: malformed, unknown paths, bodies and headers that are not taken, too "
        "late, too many at once.");
    for (const auto& [status, count] : refusals) refused.Add(count, {{"status", StrCat(status)}});
  }
  writer.Gauge("millrace_websockets", "WebSockets that are open.", web_sockets_.open());
  writer.Counter("millrace_websockets_opened_total", "WebSockets that were opened.",
                 web_sockets_.opened_total());
}

void HttpFrontEnds::Stop() {
  if (http_ != nullptr) http_->Stop();
  web_sockets_.Stop();
}

}  // namespace millrace::server
