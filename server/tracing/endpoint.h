#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace millrace::tracing {

// How spans travel to the collector.
enum class Protocol : uint8_t { kGrpc, kHttp };

// The address of a collector: "http://host:4317", or with https.
struct Endpoint {
  bool tls = false;
  std::string host;  // without brackets
  int port = 0;
  std::string path;  // as it was given, "" or from "/" on
};

// Returns the address that a URL of the schemes http and https names. Without a port it is the
// scheme's own.
absl::StatusOr<Endpoint> ParseEndpoint(std::string_view url);

}  // namespace millrace::tracing
