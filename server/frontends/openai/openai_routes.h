#pragma once

#include <functional>

#include "server/frontends/openai/openai_names.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

struct OpenAiOptions {
  // Speech requests over HTTP at once; each holds a connection's thread from its first byte to the
  // last, so this leaves some of the server's connections to others. Further ones get 429.
  int max_speech_connections = 48;
  VoiceAliases voice_aliases = VoiceAliases::value_type();
  // Whether the models are there; before that requests get 503.
  std::function<bool()> started = [] { return true; };
};

// Adds the endpoints of OpenAI's speech API: POST /v1/audio/speech, which answers while it speaks,
// GET /v1/audio/voices, GET /v1/models and /v1/models/{model}; and Kokoro-FastAPI's POST
// /dev/captioned_speech, with the times of words. services and what it borrows outlive the server;
// its keys may be null.
void AddOpenAiRoutes(HttpServer& server, Services& services, OpenAiOptions options);

}  // namespace millrace::server
