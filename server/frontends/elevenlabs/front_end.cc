#include "server/frontends/front_end.h"

#include "server/frontends/elevenlabs/elevenlabs_routes.h"
#include "server/frontends/http/shared_path.h"

namespace millrace::front_ends::elevenlabs {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  http.shared_paths.Offer(
      "GET /v1/models",
      server::AddElevenLabsRoutes(
          http.server, http.web_sockets, parts.services,
          {.idle_timeout = parts.config.websocket_idle_timeout, .started = parts.started}));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "elevenlabs", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::elevenlabs
