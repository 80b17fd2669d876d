#include "server/services/health_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "grpc/health/v1/health.grpc.pb.h"
#include "models/core/strings.h"
#include "server/services/answer.h"

namespace millrace::server {
namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;

HealthCheckResponse Response(bool serving) {
  HealthCheckResponse response;
  response.set_status(serving ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  return response;
}

absl::Status ShuttingDown() { return absl::UnavailableError("the server is shutting down"); }

}  // namespace

// A client that is told of changes. When it is slow it misses those that did not last.
class HealthService::Watch final : public Rpc::Handler {
 public:
  Watch(HealthService& service, Rpc& rpc, bool known)
      : service_(service), rpc_(rpc), known_(known) {
    rpc_.SetHandler(*this);
  }

  // On any thread, as End.
  void Tell(bool serving) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    status_ = known_ ? Response(serving).status() : HealthCheckResponse::SERVICE_UNKNOWN;
    WriteNext();
  }

  void End(const absl::Status& status) MILLRACE_EXCLUDES(mu_) {
    {
      MutexLock lock(mu_);
      if (end_) return;
      end_ = status;
      if (writing_) return;
    }
    rpc_.Finish(ToGrpcStatus(status));
  }

 private:
  void OnWriteDone(bool ok) override MILLRACE_EXCLUDES(mu_) {
    std::optional<absl::Status> end;
    {
      MutexLock lock(mu_);
      writing_ = false;
      if (ok) WriteNext();
      if (!writing_) end = end_;
    }
    if (end) rpc_.Finish(ToGrpcStatus(*end));
  }
  void OnCancel() override { End(absl::CancelledError("the caller went away")); }
  void OnDone() override {
    service_.Remove(*this);
    delete this;
  }

  void WriteNext() MILLRACE_REQUIRES(mu_) {
    if (writing_ || end_ || status_ == written_) return;
    HealthCheckResponse response;
    response.set_status(status_);
    if (!SerializeMessage(response, message_).ok()) return;
    written_ = status_;
    writing_ = true;
    rpc_.StartWrite(&message_);
  }

  HealthService& service_;
  Rpc& rpc_;
  const bool known_;
  Mutex mu_;
  HealthCheckResponse::ServingStatus status_ MILLRACE_GUARDED_BY(mu_) =
      HealthCheckResponse::UNKNOWN;
  HealthCheckResponse::ServingStatus written_ MILLRACE_GUARDED_BY(mu_) =
      HealthCheckResponse::UNKNOWN;
  grpc::ByteBuffer message_ MILLRACE_GUARDED_BY(mu_);
  bool writing_ MILLRACE_GUARDED_BY(mu_) = false;
  std::optional<absl::Status> end_ MILLRACE_GUARDED_BY(mu_);
};

HealthService::HealthService(std::vector<std::string> services)
    : RpcService(Health::service_full_name()), services_(std::move(services)) {
  Serve("Check", Answering<HealthCheckRequest, HealthCheckResponse>(
                     [this](const Rpc&, const auto& request, auto& response) -> absl::Status {
                       if (!Knows(request.service())) {
                         return absl::NotFoundError(StrCat("service: the server has none named '",
                                                           request.service(), "'"));
                       }
                       response = Response(serving());
                       return absl::OkStatus();
                     }));
  Serve("Watch", [this](Rpc& rpc) {
    HealthCheckRequest request;
    if (absl::Status status = ParseMessage(rpc.request(), request); !status.ok())
      return rpc.Finish(ToGrpcStatus(status));
    Add(*new Watch(*this, rpc, Knows(request.service())));
  });
}

bool HealthService::Knows(std::string_view service) const {
  return service.empty() || std::ranges::find(services_, service) != services_.end();
}

bool HealthService::serving() const {
  MutexLock lock(mu_);
  return serving_;
}

void HealthService::Add(Watch& watch) {
  MutexLock lock(mu_);
  if (ended_) return watch.End(ShuttingDown());
  watches_.insert(&watch);
  watch.Tell(serving_);
}

void HealthService::Remove(Watch& watch) {
  MutexLock lock(mu_);
  watches_.erase(&watch);
}

void HealthService::SetServing(bool serving) {
  MutexLock lock(mu_);
  serving_ = serving;
  for (Watch* watch : watches_) watch->Tell(serving);
}

void HealthService::EndWatches() {
  MutexLock lock(mu_);
  ended_ = true;
  for (Watch* watch : watches_) watch->End(ShuttingDown());
}

}  // namespace millrace::server
