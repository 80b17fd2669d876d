#pragma once

#include "server/frontends/kserve/repository_actions.h"
#include "server/http/http_server.h"
#include "server/security/api_key_store.h"

namespace millrace::server {

// Adds POST /v2/repository/models/{model}/load and /unload of Triton's model repository extension,
// with the rights of AdminService: with keys (may be null) they need one of an admin, without them
// AuthorizeHttpAdmin decides. A load is answered when it has ended.
void AddRepositoryRoutes(HttpServer& server, RepositoryActions actions, const ApiKeyStore* keys);

}  // namespace millrace::server
