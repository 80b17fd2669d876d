#include "server/frontends/front_end.h"

#include <memory>
#include <utility>
#include <vector>

#include "server/frontends/millrace/admin_service.h"
#include "server/frontends/millrace/synthesis_service.h"
#include "server/frontends/millrace/translation_service.h"

namespace millrace::front_ends::millrace {
namespace {

std::unique_ptr<server::GrpcPart> MakeGrpc(const server::FrontEndParts& parts) {
  std::vector<std::unique_ptr<server::RpcService>> services;
  services.push_back(std::make_unique<server::TranslationService>(parts.services));
  services.push_back(std::make_unique<server::SynthesisService>(parts.services));
  services.push_back(std::make_unique<server::AdminService>(
      parts.services, parts.control->models, parts.control->status, parts.control->loads,
      parts.steps, parts.repository.pull, parts.repository.remove, parts.control->convicted));
  return server::MakeGrpcPart(std::move(services));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "millrace", .make_grpc = &MakeGrpc};

}  // namespace millrace::front_ends::millrace
