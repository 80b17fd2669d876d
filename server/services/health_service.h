#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// grpc.health.v1: whether the server as a whole, and each of its services, can be called. Needs no
// key. Thread-safe. gRPC's own would bring the callback threads that PollingThread does without.
class HealthService final : public RpcService {
 public:
  // Of services by their full names; NOT_SERVING until SetServing.
  explicit HealthService(std::vector<std::string> services);

  // Tells all who watch.
  void SetServing(bool serving) MILLRACE_EXCLUDES(mu_);
  // Ends the calls that watch, also those still to come: UNAVAILABLE.
  void EndWatches() MILLRACE_EXCLUDES(mu_);

 private:
  class Watch;

  bool Knows(std::string_view service) const;
  bool serving() const MILLRACE_EXCLUDES(mu_);
  void Add(Watch& watch) MILLRACE_EXCLUDES(mu_);
  void Remove(Watch& watch) MILLRACE_EXCLUDES(mu_);

  const std::vector<std::string> services_;
  mutable Mutex mu_;
  bool serving_ MILLRACE_GUARDED_BY(mu_) = false;
  bool ended_ MILLRACE_GUARDED_BY(mu_) = false;
  std::unordered_set<Watch*> watches_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
