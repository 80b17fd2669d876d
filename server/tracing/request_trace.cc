#include "server/tracing/request_trace.h"

#include <chrono>
#include <iterator>
#include <utility>

namespace millrace::tracing {
namespace {

int64_t UnixOffset() {
  using std::chrono::duration_cast;
  using std::chrono::nanoseconds;
  const auto unix_time = std::chrono::system_clock::now().time_since_epoch();
  const auto steady_time = std::chrono::steady_clock::now().time_since_epoch();
  return duration_cast<nanoseconds>(unix_time).count() -
         duration_cast<nanoseconds>(steady_time).count();
}

}  // namespace

RequestTrace::RequestTrace(TraceId id, const TraceContext& parent, TimePoint begin,
                           TraceQueue& queue, SpanCounts& counts)
    : id_(id),
      parent_(parent),
      begin_(begin),
      unix_offset_ns_(UnixOffset()),
      queue_(queue),
      counts_(counts) {}

void RequestTrace::Add(Span span) {
  if (!IsValid(span.id)) span.id = NewSpanId();
  span.parent = root_;
  MutexLock lock(mu_);
  if (spans_.size() + 1 >= kMaxSpans) {  // one place is the server's span's
    ++dropped_;
    return;
  }
  spans_.push_back(std::move(span));
}

void RequestTrace::Add(std::string_view name, TimePoint begin, TimePoint end) {
  Span span;
  span.name = name;
  span.begin = begin;
  span.end = end;
  Add(std::move(span));
}

void RequestTrace::Finish(End end) {
  Span server;
  server.id = root_;
  server.parent = parent_.span_id;
  server.name = std::move(end.name);
  server.kind = Span::Kind::kServer;
  server.begin = begin_;
  server.end = end.time;
  server.attributes = std::move(end.attributes);
  server.failed = end.failed;
  server.error = std::move(end.error);
  TraceRecord record;
  record.trace_id = id_;
  record.flags = static_cast<uint8_t>(parent_.flags | TraceContext::kSampled);
  record.state = parent_.state;
  record.parent_is_remote = IsValid(parent_.span_id);
  record.unix_offset_ns = unix_offset_ns_;
  {
    MutexLock lock(mu_);
    if (dropped_ != 0) {
      counts_.AddDropped(Drop::kTooMany, dropped_);
      server.attributes.push_back({"millrace.dropped_spans", static_cast<int64_t>(dropped_)});
    }
    record.spans.reserve(spans_.size() + 1);
    record.spans.push_back(std::move(server));
    record.spans.insert(record.spans.end(), std::make_move_iterator(spans_.begin()),
                        std::make_move_iterator(spans_.end()));
    spans_.clear();
  }
  queue_.Push(std::move(record));
}

}  // namespace millrace::tracing
