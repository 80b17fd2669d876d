#include "server/frontends/front_end.h"

#include "server/frontends/http/shared_path.h"
#include "server/frontends/libretranslate/libretranslate_routes.h"

namespace millrace::front_ends::libretranslate {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  server::AddLibreTranslateRoutes(http.server, parts.services, http.translator,
                                  http.shared_paths.Others("POST /translate"));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "libretranslate", .add_routes = &AddRoutes};

}  // namespace millrace::front_ends::libretranslate
