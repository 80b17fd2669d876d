#pragma once

#include <memory>

#include "server/frontends/http/http_translator.h"
#include "server/frontends/http/shared_path.h"
#include "server/http/http_server.h"

namespace millrace::server {

// Adds what browsers' plug-ins send to a translator of the user's own: see PluginProtocols. If keys
// are required, each needs one as the other endpoints take it, or in a way of the originals: as the
// query's token or api_token, as the header `key` or `x-api-token`, or as `authorization:
// DeepL-Auth-Key <key>`; without it they answer 401.
//
// Returns what answers those of them that share POST /translate with LibreTranslate.
SharedPathHandler AddTranslationPluginRoutes(HttpServer& server,
                                             std::shared_ptr<HttpTranslator> translator);

}  // namespace millrace::server
