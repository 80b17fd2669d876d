// Looks for bytes that the reader of Wyoming's events reads differently when they come in other
// parts, or holds more of than its limits allow.
//
// usage: wyoming_fuzz [-max_total_time=60] tests/fuzz/seeds/wyoming

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/frontends/wyoming/event_reader.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

constexpr EventReader::Limits kLimits = {.line_bytes = 200, .data_bytes = 300, .payload_bytes = 50};

// Returns what the reader makes of the bytes.
std::string ReadAll(std::string_view bytes, size_t part) {
  EventReader reader(kLimits);
  std::string all;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, part);
    bytes.remove_prefix(next.size());
    reader.Push(next);
    for (;;) {
      auto event = reader.Next();
      if (!event.ok()) return all + "error";
      if (!*event) break;
      all += (*event)->type + " " + (*event)->data.dump() + "\n";
    }
    // The reader may hold bytes that it has read beside those of an event that has not ended.
    Require(
        reader.held_bytes() <= 2 * (kLimits.line_bytes + kLimits.data_bytes + part) + (32 << 10),
        "holds too much");
  }
  return all;
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using millrace::server::ReadAll;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = ReadAll(bytes, std::max<size_t>(size, 1));
  for (const size_t part : {1, 7})
    millrace::Require(ReadAll(bytes, part) == whole, "parts are read differently");
  return 0;
}
