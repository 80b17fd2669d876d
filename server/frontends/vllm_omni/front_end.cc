#include "server/frontends/front_end.h"

#include <functional>
#include <memory>
#include <utility>

#include "httplib.h"
#include "server/frontends/vllm_omni/speech_session.h"
#include "server/http/http_routes.h"
#include "server/http/http_server.h"
#include "server/websocket/websocket_server.h"

namespace millrace::front_ends::vllm_omni {
namespace {

// Adds the WebSocket /v1/audio/speech/stream.
void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  // Sessions may outlive the server, and with it this handler.
  const auto names = std::make_shared<const server::SpeechNames>(parts.services.models,
                                                                 parts.services.voice_aliases);
  const server::SpeechSession::Context context{.services = parts.services,
                                               .names = names,
                                               .started = parts.started,
                                               .idle_timeout = parts.config.websocket_idle_timeout};
  http.server.routes().Get(
      "/v1/audio/speech/stream", [&server = http.server, &web_sockets = http.web_sockets, context](
                                     const httplib::Request& request, httplib::Response& response) {
        const ApiKeyStore* const keys = context.services.keys;
        const auto make = [&](std::function<void()> changed) {
          return std::make_unique<server::SpeechSession>(context, HttpCaller(request, keys),
                                                         AuthenticateHttp(request, keys),
                                                         std::move(changed));
        };
        const auto refusal = web_sockets.Upgrade(server, request, response, make);
        if (refusal) SendError(response, refusal->http_status, refusal->message);
      });
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "vllm_omni", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::vllm_omni
