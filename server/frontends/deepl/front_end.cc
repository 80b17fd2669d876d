#include "server/frontends/front_end.h"

#include "server/frontends/deepl/deepl_routes.h"

namespace millrace::front_ends::deepl {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  server::AddDeepLRoutes(http.server, parts.services, http.translator);
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "deepl", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::deepl
