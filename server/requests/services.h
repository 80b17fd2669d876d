#pragma once

#include <chrono>
#include <cstddef>

#include "mps_runtime/base/clock.h"
#include "server/limits/key_limits.h"
#include "server/metrics/metrics.h"
#include "server/requests/stream_registry.h"
#include "server/requests/voice_aliases.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/security/api_key_store.h"
#include "server/tracing/tracer.h"

namespace millrace::server {

// The most characters of all texts of a request for translation, where nothing else is set.
inline constexpr size_t kMaxTranslateCharacters = 100'000;

// The parts of the server that every service uses. They are borrowed and thread-safe, and live
// until the gRPC server has shut down.
struct Services {
  Admission& admission;
  Scheduler& scheduler;
  ModelDirectory& models;
  StreamRegistry& streams;
  ModelMetrics& no_model_metrics;     // counts calls that reached no model
  const ApiKeyStore* keys = nullptr;  // null: keys are not required
  Duration max_request_time{};        // later deadlines are cut to this, from the request's arrival
  size_t max_buffered_bytes = 0;      // a stream's; beyond it the next step waits for the client
  size_t max_translate_characters = kMaxTranslateCharacters;  // a request's sum of all texts
  VoiceAliases voice_aliases = VoiceAliases::value_type();
  KeyLimits* limits = nullptr;  // null: keys are neither limited nor told apart
  Clock& clock = Clock::Real();
  const tracing::Tracer* tracer = nullptr;  // null: no request is traced
};

}  // namespace millrace::server
