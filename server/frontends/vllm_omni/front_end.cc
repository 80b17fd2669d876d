#include "server/frontends/front_end.h"

#include "server/frontends/vllm_omni/vllm_omni_routes.h"

namespace millrace::front_ends::vllm_omni {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  server::AddVllmOmniRoutes(
      http.server, http.web_sockets, parts.services,
      {.idle_timeout = parts.config.websocket_idle_timeout, .started = parts.started});
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "vllm_omni", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::vllm_omni
