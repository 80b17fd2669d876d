#pragma once

#include <string>

#include "server/tracing/arrival.h"

namespace millrace {

// The sender of a request.
struct Caller {
  std::string address;  // "203.0.113.7:50123" or "[2001:db8::1]:50123"; empty: not known
  std::string key;      // the name of the API key, never the key; empty: none, or not a known one
  // Over HTTP, what the request says for its trace. Calls over gRPC read that from their metadata.
  tracing::Arrival arrival = {};
  std::string priority = {};  // the priority that it asks for, unchecked; empty: none
};

}  // namespace millrace
