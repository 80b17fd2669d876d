#pragma once

#include <functional>
#include <memory>

#include "server/frontends/console/live_view.h"
#include "server/http/http_server.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// Adds the console: GET / and the page's other files below /console/, which anybody may read, and
// GET /console/live with what `live` returns, which needs a key if keys is not null. The page talks
// to the server by the same routes as other clients. `started` returns true once the models are
// loaded; until then /console/live answers with 503.
void AddConsoleRoutes(HttpServer& server, std::shared_ptr<const LiveView> live,
                      const ApiKeyStore* keys, std::function<bool()> started);

}  // namespace millrace::server
