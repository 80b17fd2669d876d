#pragma once

#include <functional>
#include <memory>

#include "server/frontends/console/live_view.h"
#include "server/frontends/console/shelf_view.h"
#include "server/http/http_server.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// Adds the console: GET / and the page's other files below /console/, which anybody may read, and
// GET /console/live and /console/shelf with what `live` and `shelf` return, which need a key if
// keys is not null; POST /console/shelf/available, which asks hubs, is for admins. The page talks
// to the server by the same routes as other clients. `started` returns true once the models are
// loaded; until then these answer with 503.
void AddConsoleRoutes(HttpServer& server, std::shared_ptr<const LiveView> live,
                      std::shared_ptr<const ShelfView> shelf, const ApiKeyStore* keys,
                      std::function<bool()> started);

}  // namespace millrace::server
