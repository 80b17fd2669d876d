#include "server/http_front_ends.h"

#include <cstddef>
#include <map>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/http/http_translator.h"
#include "server/frontends/http/shared_path.h"
#include "server/frontends/openapi/openapi_document.h"
#include "server/frontends/prometheus/metrics_routes.h"

namespace millrace::server {
namespace {

// The longest HTTP body in bytes, but for tensors. The longest text that may be spoken takes a
// quarter of it.
constexpr size_t kMaxHttpBody = 1 << 20;

}  // namespace

HttpFrontEnds::HttpFrontEnds(const ServerConfig& config, const InheritedSockets& sockets,
                             PollLoop& session_loop)
    : config_(config),
      sockets_(sockets),
      web_sockets_(
          session_loop,
          {.max_connections = config.max_websockets,
           .max_connections_of_peer = config.max_websockets_per_peer,
           .connection = {.limits = {.max_message_bytes = config.max_websocket_message_bytes},
                          .stall_timeout = config.write_stall_timeout}}) {}

absl::Status HttpFrontEnds::Start(const FrontEndParts& parts,
                                  std::span<const FrontEnd* const> front_ends) {
  if (!config_.metrics_address.empty()) {
    HttpServer::Options options = MetricsServerOptions(config_.metrics_address);
    options.inherited = sockets_.Find(kMetricsSocket);
    options.checks_host = true;  // the metrics server never asks for a key
    options.allowed_hosts = config_.allowed_hosts;
    metrics_http_ = std::make_unique<HttpServer>(std::move(options));
    AddMetricsRoute(*metrics_http_, parts.metrics);
    MILLRACE_RETURN_IF_ERROR(metrics_http_->Start());
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
    MILLRACE_RETURN_IF_ERROR(web_sockets_.Start());
    AddRoutes(parts, front_ends);
    MILLRACE_RETURN_IF_ERROR(http_->Start());
  }
  started_ = true;
  return absl::OkStatus();
}

void HttpFrontEnds::AddRoutes(const FrontEndParts& parts,
                              std::span<const FrontEnd* const> front_ends) {
  SharedPaths shared_paths;
  const HttpParts http = {.server = *http_,
                          .web_sockets = web_sockets_,
                          .shared_paths = shared_paths,
                          .translator = std::make_shared<HttpTranslator>(
                              parts.services, HttpTranslator::Options{.started = parts.started})};
  for (const FrontEnd* front_end : front_ends) {
    if (front_end->add_routes != nullptr) front_end->add_routes(parts, http);
  }
  shared_paths.AddUnserved(*http_);
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
