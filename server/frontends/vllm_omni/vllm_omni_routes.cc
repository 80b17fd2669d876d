#include "server/frontends/vllm_omni/vllm_omni_routes.h"

#include <memory>
#include <utility>

#include "httplib.h"
#include "server/frontends/vllm_omni/speech_session.h"
#include "server/http/http_routes.h"

namespace millrace::server {

void AddVllmOmniRoutes(HttpServer& server, WebSocketServer& web_sockets, Services& services,
                       VllmOmniOptions options) {
  // Sessions may outlive the server, and with it this handler.
  const auto names = std::make_shared<const SpeechNames>(services.models, services.voice_aliases);
  server.routes().Get("/v1/audio/speech/stream",
                      [&server, &web_sockets, &services, names, options = std::move(options)](
                          const httplib::Request& request, httplib::Response& response) {
                        const auto make = [&](std::function<void()> changed) {
                          return std::make_unique<SpeechSession>(
                              SpeechSession::Context{.services = services,
                                                     .names = names,
                                                     .started = options.started,
                                                     .idle_timeout = options.idle_timeout},
                              HttpCaller(request, services.keys),
                              AuthenticateHttp(request, services.keys), std::move(changed));
                        };
                        const auto refusal = web_sockets.Upgrade(server, request, response, make);
                        if (refusal) SendError(response, refusal->http_status, refusal->message);
                      });
}

}  // namespace millrace::server
