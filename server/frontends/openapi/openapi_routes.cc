#include "server/frontends/openapi/openapi_routes.h"

#include <memory>
#include <string>

#include "httplib.h"
#include "server/frontends/openapi/openapi_document.h"
#include "server/http/http_routes.h"

namespace millrace::server {
namespace {

struct OpenApiAnswers {
  std::string document;
  std::string page;
};

}  // namespace

void AddOpenApiRoutes(HttpServer& server) {
  const auto answers = std::make_shared<OpenApiAnswers>();
  HttpRoutes& routes = server.routes();
  routes.Get("/openapi[.]json", [answers](const httplib::Request&, httplib::Response& response) {
    response.set_content(answers->document, "application/json");
  });
  routes.Get("/docs", [answers](const httplib::Request&, httplib::Response& response) {
    response.set_header("Content-Security-Policy", "default-src 'none'");
    response.set_header("X-Content-Type-Options", "nosniff");
    response.set_content(answers->page, "text/html; charset=utf-8");
  });
  *answers = {.document = OpenApiDocument(routes), .page = OpenApiPage(routes)};
}

}  // namespace millrace::server
