#include "server/frontends/grpc/health_service.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "models/core/errors.h"
#include "server/frontends/grpc/answer.h"
#include "server/frontends/grpc/latest_stream.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListRequest;
using grpc::health::v1::HealthListResponse;
using ServingStatus = HealthCheckResponse::ServingStatus;

// This is longer than any name of a service or model. A watch keeps its name, so it is bounded.
constexpr size_t kMaxNameBytes = 256;

absl::Status CheckName(const std::string& name) {
  if (name.size() <= kMaxNameBytes) return absl::OkStatus();
  return InvalidArgument("service: has ", name.size(), " bytes; at most ", kMaxNameBytes,
                         " are allowed");
}

absl::Status ShuttingDown() { return Unavailable("the server is shutting down"); }

}  // namespace

// A client that watches a name.
class HealthService::Watch final : public LatestStream, public SelfOwned<Watch> {
 public:
  Watch(HealthService& service, ByteCall& call, std::string name)
      : LatestStream(call), service_(service), name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  // Sends the status. May be called on any thread.
  void Tell(ServingStatus status) MILLRACE_EXCLUDES(mu_) {
    const MutexLock lock(mu_);
    status_ = status;
    SendNext();
  }

 private:
  void OnDone() override {
    service_.Remove(*this);
    DeleteThis();
  }

  void SendNext() override MILLRACE_REQUIRES(mu_) {
    if (!MaySend() || status_ == sent_) return;
    HealthCheckResponse response;
    response.set_status(status_);
    if (Send(response)) sent_ = status_;
  }

  HealthService& service_;
  const std::string name_;
  ServingStatus status_ MILLRACE_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
  ServingStatus sent_ MILLRACE_GUARDED_BY(mu_) = HealthCheckResponse::UNKNOWN;
};

HealthService::HealthService(std::vector<std::string> services, const ApiKeyStore* keys)
    : RpcService("grpc.health.v1.Health"), services_(std::move(services)) {
  Serve("Check", Answering<HealthCheckRequest, HealthCheckResponse>(
                     [this](const ByteCall&, const auto& request, auto& response) -> absl::Status {
                       MILLRACE_RETURN_IF_ERROR(CheckName(request.service()));
                       MutexLock lock(mu_);
                       response.set_status(StatusOf(request.service()));
                       if (response.status() != HealthCheckResponse::SERVICE_UNKNOWN)
                         return absl::OkStatus();
                       return NotFound("service: the server has no service and no model named '",
                                       request.service(), "'");
                     }));
  Serve("List", Answering(keys, Role::kUser, *this, &HealthService::List));
  Serve("Watch", [this](ByteCall& call) {
    HealthCheckRequest request;
    absl::Status status = ParseMessage(call.request(), request);
    if (status.ok()) status = CheckName(request.service());
    if (!status.ok()) return call.Finish(status);
    Add(Watch::Make(*this, call, std::move(*request.mutable_service())));
  });
}

absl::Status HealthService::List(const HealthListRequest& /*request*/,
                                 HealthListResponse& response) const {
  auto& statuses = *response.mutable_statuses();
  MutexLock lock(mu_);
  std::vector<std::string> names = services_;
  names.emplace_back();
  for (const auto& [model, ready] : models_) names.push_back(model);
  for (const std::string& name : names) statuses[name].set_status(StatusOf(name));
  return absl::OkStatus();
}

ServingStatus HealthService::StatusOf(std::string_view name) const {
  bool ready = true;
  if (!name.empty() && std::ranges::find(services_, name) == services_.end()) {
    const auto model = models_.find(name);
    if (model == models_.end()) return HealthCheckResponse::SERVICE_UNKNOWN;
    ready = model->second;
  }
  return serving_ && ready ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING;
}

void HealthService::Add(Watch& watch) {
  MutexLock lock(mu_);
  if (ended_) return watch.End(ShuttingDown());
  watches_.insert(&watch);
  watch.Tell(StatusOf(watch.name()));
}

void HealthService::Remove(Watch& watch) {
  MutexLock lock(mu_);
  watches_.erase(&watch);
}

void HealthService::SetServing(bool serving) {
  MutexLock lock(mu_);
  serving_ = serving;
  for (Watch* watch : watches_) watch->Tell(StatusOf(watch->name()));
}

void HealthService::SetModel(std::string_view name, std::optional<bool> ready) {
  MutexLock lock(mu_);
  const auto model = models_.find(name);
  if (ready && model != models_.end()) {
    model->second = *ready;
  } else if (ready) {
    models_.emplace(name, *ready);
  } else if (model != models_.end()) {
    models_.erase(model);
  }
  for (Watch* watch : watches_) {
    if (watch->name() == name) watch->Tell(StatusOf(name));
  }
}

void HealthService::EndWatches() {
  MutexLock lock(mu_);
  ended_ = true;
  for (Watch* watch : watches_) watch->End(ShuttingDown());
}

}  // namespace millrace::server
