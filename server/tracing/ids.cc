#include "server/tracing/ids.h"

#include <cstring>
#include <random>

#include "absl/strings/escaping.h"

namespace millrace::tracing {
namespace {

uint64_t NextRandom() {
  thread_local std::mt19937_64 engine = [] {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(),
                       device(), device(), device(), device()};
    return std::mt19937_64(seed);
  }();
  return engine();
}

template <typename Id>
Id NewId() {
  Id id{};
  do {
    for (size_t i = 0; i < id.size(); i += 8) {
      const uint64_t bits = NextRandom();
      std::memcpy(&id[i], &bits, sizeof(bits));
    }
  } while (!IsValid(id));
  return id;
}

}  // namespace

TraceId NewTraceId() { return NewId<TraceId>(); }
SpanId NewSpanId() { return NewId<SpanId>(); }

std::string ToHex(const uint8_t* bytes, size_t count) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes), count});
}

}  // namespace millrace::tracing
