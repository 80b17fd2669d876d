#pragma once

#include "server/http/http_server.h"
#include "server/requests/server_view.h"
#include "server/security/api_key_store.h"

namespace millrace {

// Adds the KServe v2 health, metadata and model endpoints, with Triton's model configuration and
// index of the repository. view outlives the server. With keys (may
// be null) all but health need one, as `authorization: Bearer` or `x-api-key`.
void AddKServeRoutes(HttpServer& server, const ServerView& view, const ApiKeyStore* keys);

}  // namespace millrace
