#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/graph_cache.h"
#include "mps_runtime/stream_pool.h"
#include "server/requests/pull_action.h"
#include "server/requests/server_view.h"
#include "server/requests/services.h"
#include "server/scheduling/step_timeline.h"

namespace millrace::server {

// Describes what the server does now to the page that shows it. Thread-safe; what it borrows must
// outlive it.
class LiveView {
 public:
  // The device at the moment.
  struct Device {
    std::string name;
    int permits = 0;
    int permits_in_use = 0;
    runtime::StreamPool::Stats streams = {};
    int64_t memory_bytes = 0;
    runtime::GraphCacheStats graph_cache = {};
  };
  struct Sources {
    const ServerView& view;
    Services& services;
    const StepTimeline& steps;
    std::function<Device()> device;  // thread-safe
    bool loads_models = true;        // over HTTP, for those who may
    // Returns the models that are being fetched.
    std::function<std::vector<PullView>()> pulls = [] { return std::vector<PullView>(); };
  };

  explicit LiveView(Sources sources) : sources_(std::move(sources)) {}

  // Returns a JSON object: the state now, counts since the start, and the steps that ended after
  // `since_ms` on the server's own clock, which the object has as now_ms; at most those of ten
  // seconds. may_admin: the reader may load and unload models.
  std::string Json(double since_ms, bool may_admin) const;

 private:
  const Sources sources_;
};

}  // namespace millrace::server
