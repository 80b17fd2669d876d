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

namespace millrace::server {

// grpc.health.v1: whether the server as a whole, each of its services and each of its models can be
// called; a service goes before a model of its name. Needs no key. Thread-safe. gRPC's own would
// bring the callback threads that PollingThread does without.
class HealthService final : public RpcService {
 public:
  // Knows the services by their full names. All are NOT_SERVING until SetServing.
  explicit HealthService(std::vector<std::string> services);

  // Tells all who watch.
  void SetServing(bool serving) MILLRACE_EXCLUDES(mu_);
  // Whether a model is loaded; none: there is no such model. Tells those who watch it.
  void SetModel(std::string_view name, std::optional<bool> ready) MILLRACE_EXCLUDES(mu_);
  // Ends the calls that watch, also those still to come: UNAVAILABLE.
  void EndWatches() MILLRACE_EXCLUDES(mu_);

 private:
  class Watch;

  grpc::health::v1::HealthCheckResponse::ServingStatus StatusOf(std::string_view name) const
      MILLRACE_REQUIRES(mu_);
  void Add(Watch& watch) MILLRACE_EXCLUDES(mu_);
  void Remove(Watch& watch) MILLRACE_EXCLUDES(mu_);

  const std::vector<std::string> services_;
  mutable Mutex mu_;
  bool serving_ MILLRACE_GUARDED_BY(mu_) = false;
  bool ended_ MILLRACE_GUARDED_BY(mu_) = false;
  std::map<std::string, bool, std::less<>> models_
      MILLRACE_GUARDED_BY(mu_);  // whether each is ready
  std::unordered_set<Watch*> watches_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
