#pragma once

#include <cstddef>
#include <functional>

#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

struct RestInferOptions {
  size_t max_body_bytes = size_t{16} << 20;  // tensors are larger than texts
  // The number of concurrent inferences over HTTP, each of which occupies a connection's thread and
  // its body's memory. Further ones get 429.
  int max_connections = 48;
  // Returns true once the models are loaded; until then requests get 503.
  std::function<bool()> started = [] { return true; };
};

// Adds KServe v2's POST /v2/models/{model}[/versions/{version}]/infer with Triton's binary
// extension. With keys required, it needs one. The services, and what they borrow, must outlive the
// server.
void AddRestInferRoutes(HttpServer& server, Services& services, RestInferOptions options);

}  // namespace millrace::server
