#pragma once

#include <chrono>
#include <cstddef>

#include "mps_runtime/base/clock.h"
#include "server/metrics/metrics.h"
#include "server/requests/stream_registry.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// What every gRPC service works with: borrowed, thread-safe, and alive until the gRPC server has
// shut down.
struct Services {
  Admission& admission;
  Scheduler& scheduler;
  ModelDirectory& models;
  StreamRegistry& streams;
  ModelMetrics& no_model_metrics;     // of calls that reached no model
  const ApiKeyStore* keys = nullptr;  // null: no key is asked for
  Duration max_request_time{};        // deadlines further away are cut to this
  size_t max_buffered_bytes = 0;      // of a stream, before its next step waits for the client
  Clock& clock = Clock::Real();
};

}  // namespace millrace::server
