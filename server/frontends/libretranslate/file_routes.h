#pragma once

#include <memory>

#include "server/frontends/http/http_translator.h"
#include "server/http/http_server.h"
#include "server/requests/services.h"

namespace millrace::server {

// Adds LibreTranslate's translation of files: POST /translate_file with a form of `file`, `source`,
// `target` and, if keys are required, `api_key`, which answers where the translation is; and GET
// /download_file/<name>, which needs no key but that name. The services, and what they borrow, must
// outlive the server.
void AddLibreTranslateFileRoutes(HttpServer& server, Services& services,
                                 std::shared_ptr<HttpTranslator> translator);

}  // namespace millrace::server
