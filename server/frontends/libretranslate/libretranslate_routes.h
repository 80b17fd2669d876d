#pragma once

#include <functional>

#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

struct LibreTranslateOptions {
  // The number of concurrent translations over HTTP, each of which occupies a connection's thread.
  // Further ones get 429.
  int max_connections = 48;
  // Returns true once the models are loaded; until then requests get 503.
  std::function<bool()> started = [] { return true; };
};

// Adds the endpoints of LibreTranslate: POST /translate and /detect, with JSON or a form, and GET
// /languages and /frontend/settings. If keys are required, the first two need one, either as
// api_key, as in the original, or as the other endpoints do; without it they answer 403. The
// services, and what they borrow, must outlive the server.
void AddLibreTranslateRoutes(HttpServer& server, Services& services, LibreTranslateOptions options);

}  // namespace millrace::server
