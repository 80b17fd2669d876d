#pragma once

#include <string>
#include <utility>
#include <vector>

#include "server/tracing/span.h"

namespace opentelemetry::proto::collector::trace::v1 {
class ExportTraceServiceRequest;
}  // namespace opentelemetry::proto::collector::trace::v1

namespace millrace::tracing {

using OtlpRequest = opentelemetry::proto::collector::trace::v1::ExportTraceServiceRequest;

// Attributes of the process that made the spans.
using ResourceAttributes = std::vector<std::pair<std::string, std::string>>;

// Fills a request of OTLP with the spans of a batch. What is not UTF-8 in a text is replaced.
void EncodeSpans(const std::vector<TraceRecord>& batch, const ResourceAttributes& resource,
                 OtlpRequest& request);

}  // namespace millrace::tracing
