// Looks for heads of HTTP requests whose end depends on how they arrive, whose parts lie outside of
// them, or that are taken although a header is not well formed.
//
// usage: request_head_fuzz [-max_total_time=60] tests/fuzz/seeds/request_head

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "server/http/request_head.h"
#include "tests/fuzz/require.h"

namespace millrace {
namespace {

// Returns the size of the head as a server finds it that receives the bytes in parts.
size_t HeadSizeInParts(std::string_view bytes, size_t part) {
  size_t searched = 0;
  while (searched < bytes.size()) {
    const size_t received = std::min(searched + part, bytes.size());
    if (const size_t head = HeadSize(bytes.substr(0, received), searched); head != 0) return head;
    searched = received;
  }
  return 0;
}

bool IsPartOf(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void TryHead(std::string_view bytes) {
  const size_t size = HeadSize(bytes, 0);
  Require(size <= bytes.size(), "the head is longer than the bytes");
  for (const size_t part : {1, 7})
    Require(HeadSizeInParts(bytes, part) == size, "the end depends on the parts");

  for (const std::string_view head : {bytes.substr(0, size), bytes}) {
    Require(IsPartOf(MethodOf(head), head), "the method lies outside of the head");
    Require(IsPartOf(PathOf(head), head), "the path lies outside of the head");
    Require(PathOf(head).find_first_of("\r\n ?#") == head.npos, "the path does not end in time");
  }
  if (size == 0) return;
  const auto parsed = ParseRequestHead(bytes.substr(0, size));
  if (!parsed.ok()) return;
  Require(parsed->path == "*" || parsed->path.starts_with('/'), "the target is no path");
  for (const auto& [name, value] : parsed->headers) {
    Require(!name.empty(), "a header has no name");
    Require(IsFieldLine(name + ": " + value), "a header is not one");
  }
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  millrace::TryHead({reinterpret_cast<const char*>(data), size});
  return 0;
}
