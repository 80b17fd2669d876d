#pragma once

#include <functional>

#include "server/frontends/http/shared_path.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

struct OpenAiOptions {
  // The number of concurrent speech requests over HTTP. Each occupies a connection's thread from
  // its first byte to the last, so this leaves some of the server's connections to others. Further
  // ones get 429.
  int max_speech_connections = 48;
  // Is asked for GET /v1/models, which other APIs have too.
  SharedPathHandler other_models = {};
  // Returns true once the models are loaded; until then requests get 503.
  std::function<bool()> started = [] { return true; };
  // Returns true if the server is ready, by its health checks.
  std::function<bool()> ready = [] { return true; };
  // Returns what is out of order; empty: nothing is.
  std::function<std::string()> degraded = [] { return std::string(); };
};

// Adds the endpoints of OpenAI's speech API: POST /v1/audio/speech, which answers while it speaks,
// GET /v1/audio/voices, GET /v1/models and /v1/models/{model}; and Kokoro-FastAPI's POST
// /dev/captioned_speech, with the times of words. The services, and what they borrow, must outlive
// the server; their keys may be null.
void AddOpenAiRoutes(HttpServer& server, Services& services, OpenAiOptions options);

}  // namespace millrace::server
