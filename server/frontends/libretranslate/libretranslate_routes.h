#pragma once

#include <functional>

#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

struct LibreTranslateOptions {
  // Translations over HTTP at once, each of which holds a connection's thread. Further ones get
  // 429.
  int max_connections = 48;
  // Whether the models are there; before that requests get 503.
  std::function<bool()> started = [] { return true; };
};

// Adds the endpoints of LibreTranslate: POST /translate and /detect, of JSON or a form, GET
// /languages and /frontend/settings. With keys, the first two need one: as api_key, as the original
// has it, or as the other endpoints do; without one they answer 403. services and what it borrows
// outlive the server.
void AddLibreTranslateRoutes(HttpServer& server, Services& services, LibreTranslateOptions options);

}  // namespace millrace::server
