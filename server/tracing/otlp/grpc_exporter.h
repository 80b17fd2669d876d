#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "server/tracing/settings.h"
#include "server/tracing/span_exporter.h"

namespace millrace::tracing {

// Calls TraceService/Export of the collector.
absl::StatusOr<std::unique_ptr<SpanExporter>> MakeGrpcExporter(const Settings& settings);

}  // namespace millrace::tracing
