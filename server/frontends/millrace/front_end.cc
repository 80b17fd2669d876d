#include "server/frontends/front_end.h"

#include <memory>

#include "server/frontends/millrace/admin_service.h"
#include "server/frontends/millrace/synthesis_service.h"
#include "server/frontends/millrace/translation_service.h"

namespace millrace::front_ends::millrace {
namespace {

void AddServices(const server::FrontEndParts& parts, server::GrpcParts& grpc) {
  grpc.services.push_back(std::make_unique<server::TranslationService>(parts.services));
  grpc.services.push_back(std::make_unique<server::SynthesisService>(parts.services));
  grpc.services.push_back(std::make_unique<server::AdminService>(
      parts.services, parts.control->models, parts.control->status, parts.control->loads,
      parts.steps, parts.repository.pull, parts.repository.remove, parts.control->convicted));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "millrace", .add_services = &AddServices};

}  // namespace millrace::front_ends::millrace
