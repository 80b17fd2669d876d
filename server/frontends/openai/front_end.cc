#include "server/frontends/front_end.h"

#include "server/frontends/http/shared_path.h"
#include "server/frontends/openai/openai_routes.h"

namespace millrace::front_ends::openai {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  server::AddOpenAiRoutes(http.server, parts.services,
                          {.other_models = http.shared_paths.Others("GET /v1/models"),
                           .started = parts.started,
                           .ready = [&view = parts.view] { return view.Ready(); },
                           .degraded = [&view = parts.view] { return view.Degraded(); }});
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "openai", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::openai
