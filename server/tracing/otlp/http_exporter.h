#pragma once

#include <memory>

#include "server/tracing/settings.h"
#include "server/tracing/span_exporter.h"

namespace millrace::tracing {

// Posts to the collector, usually at /v1/traces.
std::unique_ptr<SpanExporter> MakeHttpExporter(const Settings& settings);

}  // namespace millrace::tracing
