#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace millrace::tracing {

// Names a trace, all of whose spans have it. All zeros: none.
using TraceId = std::array<uint8_t, 16>;
// Names a span within its trace. All zeros: none.
using SpanId = std::array<uint8_t, 8>;

inline bool IsValid(const TraceId& id) { return id != TraceId{}; }
inline bool IsValid(const SpanId& id) { return id != SpanId{}; }

// These return random ids that are valid. They take no lock, and no system call after a thread's
// first. Ids name spans and protect nothing.
TraceId NewTraceId();
SpanId NewSpanId();

// Returns the lower-case hexadecimal digits of an id.
std::string ToHex(const uint8_t* bytes, size_t count);
template <size_t kBytes>
std::string ToHex(const std::array<uint8_t, kBytes>& id) {
  return ToHex(id.data(), id.size());
}

}  // namespace millrace::tracing
