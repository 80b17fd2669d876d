#pragma once

#include <string>
#include <vector>

#include "server/http/http_routes.h"
#include "server/http/http_server.h"

namespace millrace::server {

// How the table of routes and the routes that are registered agree. A path that the table spells
// out is the one that a request to it would reach.
struct RouteAgreement {
  std::vector<std::string> undescribed;   // "POST /pattern": registered, and not in the table
  std::vector<std::string> unregistered;  // "POST /path": in the table, and not registered
};
RouteAgreement CompareRoutes(const HttpRoutes& routes);

// These return the description of what is registered: as OpenAPI 3.1 has it, and as a page.
std::string OpenApiDocument(const HttpRoutes& routes);
std::string OpenApiPage(const HttpRoutes& routes);

// Adds GET /openapi.json and GET /docs, which describe all routes that were added before. They ask
// for no key, as they say nothing of models and requests.
void AddOpenApiRoutes(HttpServer& server);

}  // namespace millrace::server
