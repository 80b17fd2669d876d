#include "server/frontends/kserve/statistics_routes.h"

#include <string>

#include "httplib.h"
#include "models/core/strings.h"
#include "nlohmann/json.hpp"
#include "server/frontends/kserve/model_statistics.h"
#include "server/http/http_routes.h"
#include "server/http/http_status.h"
#include "server/json/json_text.h"

namespace millrace::server {
namespace {

void Answer(const Services& services, const std::string& name, const std::string& version,
            httplib::Response& response) {
  inference::ModelStatisticsResponse statistics;
  const absl::Status status = CollectStatistics(services, name, version, statistics);
  if (!status.ok()) return SendError(response, HttpStatusOf(status), std::string(Message(status)));
  // Names come from files, so bytes that are not UTF-8 must not throw.
  response.set_content(JsonText(StatisticsJson(statistics)), "application/json");
}

}  // namespace

void AddStatisticsRoutes(HttpServer& server, const Services& services) {
  server.routes().Get("/v2/models/stats",
                      [&services](const httplib::Request& request, httplib::Response& response) {
                        if (CheckApiKey(request, response, services.keys))
                          Answer(services, "", "", response);
                      });
  server.routes().Get("/v2/models/([^/]+)(/versions/([^/]+))?/stats",
                      [&services](const httplib::Request& request, httplib::Response& response) {
                        if (CheckApiKey(request, response, services.keys))
                          Answer(services, request.matches[1], request.matches[3], response);
                      });
}

}  // namespace millrace::server
