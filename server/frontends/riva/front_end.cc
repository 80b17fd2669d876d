#include "server/frontends/front_end.h"

#include <memory>

#include "server/frontends/riva/riva_synthesis_service.h"
#include "server/frontends/riva/riva_translation_service.h"

namespace millrace::front_ends::riva {
namespace {

void AddServices(const server::FrontEndParts& parts, server::GrpcParts& grpc) {
  grpc.services.push_back(std::make_unique<server::RivaSynthesisService>(parts.services));
  grpc.services.push_back(std::make_unique<server::RivaTranslationService>(parts.services));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "riva", .add_services = &AddServices};

}  // namespace millrace::front_ends::riva
