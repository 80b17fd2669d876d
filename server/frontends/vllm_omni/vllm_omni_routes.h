#pragma once

#include <chrono>
#include <functional>

#include "mps_runtime/base/clock.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"
#include "server/websocket/websocket_server.h"

namespace millrace::server {

struct VllmOmniOptions {
  Duration idle_timeout = std::chrono::minutes(5);  // a connection's
  // Returns true once the models are loaded; until then requests get an error.
  std::function<bool()> started = [] { return true; };
};

// Adds vLLM-Omni's WebSocket /v1/audio/speech/stream. The services and the WebSocket server, and
// what they borrow, must outlive the server; the services' keys may be null.
void AddVllmOmniRoutes(HttpServer& server, WebSocketServer& web_sockets, Services& services,
                       VllmOmniOptions options);

}  // namespace millrace::server
