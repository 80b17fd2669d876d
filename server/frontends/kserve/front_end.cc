#include "server/frontends/front_end.h"

#include <memory>

#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/kserve/kserve_routes.h"
#include "server/frontends/kserve/model_statistics.h"
#include "server/frontends/kserve/repository_routes.h"
#include "server/frontends/kserve/rest_infer_routes.h"

namespace millrace::front_ends::kserve {
namespace {

void AddRoutes(const server::FrontEndParts& parts, const server::HttpParts& http) {
  // Its path for all models comes before the pattern for the name of one.
  server::AddStatisticsRoutes(http.server, parts.services);
  AddKServeRoutes(http.server, parts.view, parts.services.keys);
  server::AddRestInferRoutes(
      http.server, parts.services,
      {.max_body_bytes = parts.config.max_message_bytes, .started = parts.started});
  if (parts.LoadsModelsOverHttp())
    server::AddRepositoryRoutes(http.server, parts.repository, parts.services.keys);
}

void AddServices(const server::FrontEndParts& parts, server::GrpcParts& grpc) {
  grpc.services.push_back(std::make_unique<server::InferService>(
      parts.services, [&view = parts.view] { return view.Ready(); }, parts.repository));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {
    .name = "kserve", .add_routes = &AddRoutes, .add_services = &AddServices};

}  // namespace millrace::front_ends::kserve
