#include "server/frontends/orca/orca_service.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "server/frontends/grpc/latest_stream.h"
#include "server/frontends/grpc/message_codec.h"
#include "server/rpc/self_owned.h"
#include "server/scheduling/refusal.h"
#include "xds/service/orca/v3/orca.pb.h"

namespace millrace::server {
namespace {

using xds::data::orca::v3::OrcaLoadReport;
using xds::service::orca::v3::OrcaLoadReportRequest;

absl::Status ShuttingDown() { return Unavailable("the server is shutting down"); }

absl::StatusOr<Duration> IntervalOf(const OrcaLoadReportRequest& request) {
  constexpr int32_t kNanosOfASecond = 1'000'000'000;
  const auto& interval = request.report_interval();
  if (interval.seconds() < 0 || interval.nanos() < 0 || interval.nanos() >= kNanosOfASecond) {
    return InvalidArgument(
        "report_interval: ", interval.seconds(), " s and ", interval.nanos(),
        " ns is no interval; allowed are 0 or more seconds, and 0..999999999 nanoseconds");
  }
  const int64_t longest = std::chrono::seconds(OrcaService::kLongest).count();
  if (interval.seconds() >= longest) return Duration(OrcaService::kLongest);
  const auto asked =
      std::chrono::seconds(interval.seconds()) + std::chrono::nanoseconds(interval.nanos());
  return std::max<Duration>(asked, OrcaService::kShortest);
}

}  // namespace

// A client that gets reports.
class OrcaService::Stream final : public LatestStream, public SelfOwned<Stream> {
 public:
  Stream(OrcaService& service, ByteCall& call, Duration interval)
      : LatestStream(call), service_(service), interval_(interval) {}

  // Sends the report if one is due. May be called on any thread.
  void Offer(const OrcaLoadReport& report, TimePoint now) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    if (MaySend() && now >= due_ && Send(report)) due_ = now + interval_;
  }

 private:
  void OnDone() override {
    service_.Remove(*this);
    DeleteThis();
  }

  OrcaService& service_;
  const Duration interval_;
  TimePoint due_ MILLRACE_GUARDED_BY(mu_){};
};

OrcaService::OrcaService(Options options, Clock& clock)
    : RpcService("xds.service.orca.v3.OpenRcaService"),
      options_(std::move(options)),
      clock_(clock) {
  Serve("StreamCoreMetrics", [this](ByteCall& call) { Start(call); });
}

void OrcaService::Start(ByteCall& call) {
  OrcaLoadReportRequest request;
  if (absl::Status status = ParseMessage(call.request(), request); !status.ok())
    return call.Finish(status);
  const absl::StatusOr<Duration> interval = IntervalOf(request);
  if (!interval.ok()) return call.Finish(interval.status());
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  if (ended_) return call.Finish(ShuttingDown());
  if (streams_.size() >= options_.max_streams) {
    options_.on_too_many();
    return call.Finish(
        Refused(Refusal::kTooMany,
                StrCat("the server already reports its load to ", options_.max_streams, " clients"),
                kShortest));
  }
  Stream& stream = Stream::Make(*this, call, *interval);
  streams_.insert(&stream);
  stream.Offer(report_, now);
}

void OrcaService::Remove(Stream& stream) {
  MutexLock lock(mu_);
  streams_.erase(&stream);
}

void OrcaService::Publish(const OrcaLoadReport& report) {
  const TimePoint now = clock_.Now();
  MutexLock lock(mu_);
  report_ = report;
  for (Stream* stream : streams_) stream->Offer(report_, now);
}

void OrcaService::EndStreams() {
  MutexLock lock(mu_);
  ended_ = true;
  for (Stream* stream : streams_) stream->End(ShuttingDown());
}

}  // namespace millrace::server
