#include "server/tracing/otlp/grpc_exporter.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "google/rpc/status.pb.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "opentelemetry/proto/collector/trace/v1/trace_service.grpc.pb.h"
#include "server/net/address_policy.h"
#include "server/tracing/otlp/span_encoder.h"

namespace millrace::tracing {
namespace {

namespace collector = opentelemetry::proto::collector::trace::v1;
using Kind = ExportResult::Kind;

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return NotFound(path, ": cannot be read");
  return text.str();
}

// Returns what the collector asks for in its RetryInfo; nullopt if it sent none.
std::optional<std::chrono::milliseconds> RetryDelay(const grpc::Status& status) {
  google::rpc::Status details;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const google::protobuf::Any& detail : details.details()) {
    google::rpc::RetryInfo info;
    if (!detail.Is<google::rpc::RetryInfo>() || !detail.UnpackTo(&info)) continue;
    const auto& delay = info.retry_delay();
    const auto wait = std::chrono::seconds(delay.seconds()) +
                      std::chrono::milliseconds(delay.nanos() / 1'000'000);
    return std::chrono::duration_cast<std::chrono::milliseconds>(wait);
  }
  return std::nullopt;
}

ExportResult ResultOf(const grpc::Status& status) {
  ExportResult result{
      .kind = Kind::kFailed,
      .error = StrCat("the collector answered with code ", static_cast<int>(status.error_code()),
                      ": ", status.error_message())};
  const auto delay = RetryDelay(status);
  using Code = grpc::StatusCode;
  static constexpr Code kPassing[] = {Code::CANCELLED,    Code::DEADLINE_EXCEEDED, Code::ABORTED,
                                      Code::OUT_OF_RANGE, Code::UNAVAILABLE,       Code::DATA_LOSS};
  // An exhausted collector that names no time will not take the batch later either.
  if (std::ranges::find(kPassing, status.error_code()) != std::end(kPassing) ||
      (status.error_code() == Code::RESOURCE_EXHAUSTED && delay))
    result.kind = Kind::kTryAgain;
  if (delay) result.try_after = *delay;
  return result;
}

class GrpcExporter final : public SpanExporter {
 public:
  GrpcExporter(const Settings& settings, std::shared_ptr<grpc::Channel> channel)
      : headers_(settings.headers),
        resource_(settings.resource),
        timeout_(settings.timeout),
        stub_(collector::TraceService::NewStub(std::move(channel))) {}

  ExportResult Export(const std::vector<TraceRecord>& batch) override MILLRACE_EXCLUDES(mu_) {
    collector::ExportTraceServiceRequest request;
    EncodeSpans(batch, resource_, request);
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + timeout_);
    for (const auto& [key, value] : headers_) context.AddMetadata(key, value);
    {
      MutexLock lock(mu_);
      if (cancelled_) return {.kind = Kind::kFailed, .error = "the export was cancelled"};
      running_ = &context;
    }
    collector::ExportTraceServiceResponse response;
    const grpc::Status status = stub_->Export(&context, request, &response);
    {
      MutexLock lock(mu_);
      running_ = nullptr;
    }
    if (!status.ok()) return ResultOf(status);
    const auto& partial = response.partial_success();
    return {.kind = Kind::kAccepted,
            .error = partial.error_message(),
            .rejected = static_cast<uint64_t>(std::max<int64_t>(partial.rejected_spans(), 0))};
  }

  void Cancel() override MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    cancelled_ = true;
    if (running_ != nullptr) running_->TryCancel();
  }

 private:
  const std::vector<std::pair<std::string, std::string>> headers_;
  const ResourceAttributes resource_;
  const std::chrono::milliseconds timeout_;
  const std::unique_ptr<collector::TraceService::Stub> stub_;
  Mutex mu_;
  grpc::ClientContext* running_ MILLRACE_GUARDED_BY(mu_) = nullptr;
  bool cancelled_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SpanExporter>> MakeGrpcExporter(const Settings& settings) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (settings.endpoint.tls) {
    auto ca = ReadFile(settings.ca_file);
    auto certificate = ReadFile(settings.certificate_file);
    auto key = ReadFile(settings.key_file);
    for (const auto* file : {&ca, &certificate, &key}) {
      if (!file->ok()) return file->status();
    }
    credentials = grpc::SslCredentials({*ca, *key, *certificate});
  }
  return std::make_unique<GrpcExporter>(
      settings,
      grpc::CreateChannel(ToString(HostPort{settings.endpoint.host, settings.endpoint.port}),
                          credentials));
}

}  // namespace millrace::tracing
