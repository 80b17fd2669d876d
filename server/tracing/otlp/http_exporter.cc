#include "server/tracing/otlp/http_exporter.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "httplib.h"
#include "models/core/strings.h"
#include "mps_runtime/base/mutex.h"
#include "opentelemetry/proto/collector/trace/v1/trace_service.pb.h"
#include "server/net/address_policy.h"
#include "server/tracing/otlp/span_encoder.h"

namespace millrace::tracing {
namespace {

namespace collector = opentelemetry::proto::collector::trace::v1;
using Kind = ExportResult::Kind;
using std::chrono::milliseconds;

constexpr char kProtobuf[] = "application/x-protobuf";

// The most that is read of an answer.
constexpr size_t kMaxAnswer = size_t{64} << 10;

// Connects anew once a connection was idle for longer than most servers keep one.
constexpr std::chrono::seconds kLongestIdle{20};

milliseconds RetryAfter(const httplib::Response& response) {
  int64_t seconds = 0;
  const std::string value = response.get_header_value("Retry-After");
  if (!absl::SimpleAtoi(value, &seconds) || seconds < 0) return milliseconds(0);
  return std::chrono::seconds(std::min<int64_t>(seconds, 24 * 60 * 60));
}

class HttpExporter final : public SpanExporter {
 public:
  explicit HttpExporter(const Settings& settings)
      : path_(settings.endpoint.path),
        headers_(settings.headers.begin(), settings.headers.end()),
        resource_(settings.resource),
        timeout_(settings.timeout),
        client_(StrCat(settings.endpoint.tls ? "https://" : "http://",
                       ToString(HostPort{settings.endpoint.host, settings.endpoint.port})),
                settings.certificate_file, settings.key_file) {
    if (!settings.ca_file.empty()) client_.set_ca_cert_path(settings.ca_file);
    client_.set_keep_alive(true);
    client_.set_connection_timeout(timeout_);
    client_.set_read_timeout(timeout_);
    client_.set_write_timeout(timeout_);
  }

  ExportResult Export(const std::vector<TraceRecord>& batch) override MILLRACE_EXCLUDES(mu_) {
    if (cancelled()) return {.kind = Kind::kFailed, .error = "the export was cancelled"};
    collector::ExportTraceServiceRequest message;
    EncodeSpans(batch, resource_, message);
    const TimePoint begin = std::chrono::steady_clock::now();
    if (begin - last_ > kLongestIdle) client_.stop();
    httplib::Request request;
    request.method = "POST";
    request.path = path_;
    request.headers = headers_;
    request.set_header("Content-Type", kProtobuf);
    request.body = message.SerializeAsString();
    std::string answer;
    request.content_receiver = [&](const char* data, size_t size, uint64_t, uint64_t) {
      answer.append(data, std::min(size, kMaxAnswer - std::min(kMaxAnswer, answer.size())));
      return answer.size() < kMaxAnswer && std::chrono::steady_clock::now() - begin < timeout_;
    };
    const httplib::Result result = client_.send(request);
    last_ = std::chrono::steady_clock::now();
    if (cancelled()) return {.kind = Kind::kFailed, .error = "the export was cancelled"};
    if (!result) {
      return {
          .kind = Kind::kTryAgain,
          .error = StrCat("no answer from the collector: ", httplib::to_string(result.error()))};
    }
    if (result->status >= 200 && result->status < 300) return Accepted(answer);
    const bool may_try_again = result->status == 429 || result->status == 502 ||
                               result->status == 503 || result->status == 504;
    return {.kind = may_try_again ? Kind::kTryAgain : Kind::kFailed,
            .error = StrCat("the collector answered with status ", result->status),
            .try_after = RetryAfter(*result)};
  }

  void Cancel() override MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      cancelled_ = true;
    }
    client_.stop();
  }

 private:
  static ExportResult Accepted(const std::string& answer) {
    collector::ExportTraceServiceResponse response;
    // Some collectors answer in JSON, which says nothing that is needed.
    if (!response.ParseFromString(answer)) return {};
    const auto& partial = response.partial_success();
    return {.kind = Kind::kAccepted,
            .error = partial.error_message(),
            .rejected = static_cast<uint64_t>(std::max<int64_t>(partial.rejected_spans(), 0))};
  }

  bool cancelled() const MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return cancelled_;
  }

  const std::string path_;
  const httplib::Headers headers_;
  const ResourceAttributes resource_;
  const milliseconds timeout_;
  httplib::Client client_;
  TimePoint last_ = std::chrono::steady_clock::now();  // the end of the last export
  mutable Mutex mu_;
  bool cancelled_ MILLRACE_GUARDED_BY(mu_) = false;
};

}  // namespace

std::unique_ptr<SpanExporter> MakeHttpExporter(const Settings& settings) {
  return std::make_unique<HttpExporter>(settings);
}

}  // namespace millrace::tracing
