#pragma once

#include <chrono>
#include <functional>

#include "mps_runtime/base/clock.h"
#include "server/frontends/http/shared_path.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"
#include "server/websocket/websocket_server.h"

namespace millrace::server {

struct ElevenLabsOptions {
  // The number of concurrent speech requests over HTTP; see OpenAiOptions.
  int max_speech_connections = 32;
  // The longest inactivity_timeout of a WebSocket.
  Duration idle_timeout = std::chrono::minutes(5);
  // Returns true once the models are loaded; until then requests are refused.
  std::function<bool()> started = [] { return true; };
};

// Adds ElevenLabs' text to speech: POST /v1/text-to-speech/{voice}, /stream, /with-timestamps and
// /stream/with-timestamps, the WebSockets /stream-input and /multi-stream-input there, and GET
// /v1/voices. The services and the WebSocket server, and what they borrow, must outlive the server;
// the services' keys may be null. Returns what answers GET /v1/models for ElevenLabs' clients.
SharedPathHandler AddElevenLabsRoutes(HttpServer& server, WebSocketServer& web_sockets,
                                      Services& services, ElevenLabsOptions options);

}  // namespace millrace::server
