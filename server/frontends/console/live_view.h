#pragma once

#include <functional>
#include <string>
#include <utility>

#include "mps_runtime/base/clock.h"
#include "server/metrics/metrics.h"
#include "server/requests/server_view.h"
#include "server/requests/services.h"
#include "server/scheduling/step_timeline.h"

namespace millrace::server {

// Describes what the server does now to the page that shows it. Thread-safe; what it borrows must
// outlive it.
class LiveView {
 public:
  struct Sources {
    const ServerView& view;
    Services& services;
    const StepTimeline& steps;
    std::string device;
    // Returns the gauges, as for a scrape.
    std::function<Snapshot()> gauges;
    bool loads_models = true;  // over HTTP, for those who may
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
