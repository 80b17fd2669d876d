#pragma once

#include <memory>

#include "server/frontends/http/http_translator.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

// Adds DeepL's endpoints: POST /v2/translate with JSON or a form, and GET and POST /v2/languages
// and /v2/usage. If keys are required, each needs one, as `authorization: DeepL-Auth-Key <key>` or
// as the other endpoints take it; without it they answer 403. The services, and what they borrow,
// must outlive the server.
void AddDeepLRoutes(HttpServer& server, Services& services,
                    std::shared_ptr<HttpTranslator> translator);

}  // namespace millrace::server
