#pragma once

#include "server/http/http_server.h"

namespace millrace::server {

// Adds GET /openapi.json and GET /docs, which describe all routes that were added before. They ask
// for no key, as they say nothing of models and requests.
void AddOpenApiRoutes(HttpServer& server);

}  // namespace millrace::server
