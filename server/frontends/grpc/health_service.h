#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "grpc/health/v1/health.pb.h"
#include "mps_runtime/base/mutex.h"
#include "server/rpc/rpc_service.h"

namespace millrace {
class ApiKeyStore;
}  // namespace millrace

namespace millrace::server {

// grpc.health.v1 answers whether the server as a whole, each of its services and each of its models
// can be called; a service takes precedence over a model of the same name. No key is needed, but
// for List, which names the models. Thread-safe. gRPC's own implementation would bring the callback
// threads that PollingThread does without.
class HealthService final : public RpcService {
 public:
  // services: full names. All are NOT_SERVING until SetServing. keys: must outlive this; null: none
  // are required.
  explicit HealthService(std::vector<std::string> services, const ApiKeyStore* keys = nullptr);

  // Sets the status of the server and its services, and notifies all watches.
  void SetServing(bool serving) MILLRACE_EXCLUDES(mu_);
  // Sets whether a model is ready, or nullopt if there is no such model. Notifies its watches.
  void SetModel(std::string_view name, std::optional<bool> ready) MILLRACE_EXCLUDES(mu_);
  // Ends all watches, and those that begin later, with UNAVAILABLE.
  void EndWatches() MILLRACE_EXCLUDES(mu_);

 private:
  class Watch;

  grpc::health::v1::HealthCheckResponse::ServingStatus StatusOf(std::string_view name) const
      MILLRACE_REQUIRES(mu_);
  absl::Status List(const grpc::health::v1::HealthListRequest& request,
                    grpc::health::v1::HealthListResponse& response) const MILLRACE_EXCLUDES(mu_);
  void Add(Watch& watch) MILLRACE_EXCLUDES(mu_);
  void Remove(Watch& watch) MILLRACE_EXCLUDES(mu_);

  const std::vector<std::string> services_;
  mutable Mutex mu_;
  bool serving_ MILLRACE_GUARDED_BY(mu_) = false;
  bool ended_ MILLRACE_GUARDED_BY(mu_) = false;
  std::map<std::string, bool, std::less<>> models_ MILLRACE_GUARDED_BY(mu_);  // true: ready
  std::unordered_set<Watch*> watches_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
