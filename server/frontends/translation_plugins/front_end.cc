#include "server/frontends/front_end.h"

#include "server/frontends/http/shared_path.h"
#include "server/frontends/translation_plugins/plugin_routes.h"

namespace millrace::front_ends::translation_plugins {
namespace {

void AddRoutes(const server::FrontEndParts&, const server::HttpParts& http) {
  http.shared_paths.Offer("POST /translate",
                          server::AddTranslationPluginRoutes(http.server, http.translator));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "translation_plugins", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::translation_plugins
