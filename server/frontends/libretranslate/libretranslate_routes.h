#pragma once

#include <memory>

#include "server/frontends/http/http_translator.h"
#include "server/frontends/http/shared_path.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

// Adds the endpoints of LibreTranslate: POST /translate and /detect, with JSON or a form, and GET
// /languages and /frontend/settings. POST /suggest says that suggestions are off. If keys are
// required, the first two need one, either as api_key, as in the original, or as the other
// endpoints do; without it they answer 403. Files are translated too; see
// AddLibreTranslateFileRoutes. The services, and what they borrow, must outlive the
// server.
//
// others: is asked for requests to /translate that have no q; see SharedPathHandler.
void AddLibreTranslateRoutes(HttpServer& server, Services& services,
                             std::shared_ptr<HttpTranslator> translator,
                             SharedPathHandler others = {});

}  // namespace millrace::server
