#include "server/frontends/front_end.h"

#include <memory>
#include <utility>
#include <vector>

#include "server/frontends/riva/riva_synthesis_service.h"
#include "server/frontends/riva/riva_translation_service.h"

namespace millrace::front_ends::riva {
namespace {

std::unique_ptr<server::GrpcPart> MakeGrpc(const server::FrontEndParts& parts) {
  std::vector<std::unique_ptr<server::RpcService>> services;
  services.push_back(std::make_unique<server::RivaSynthesisService>(parts.services));
  services.push_back(std::make_unique<server::RivaTranslationService>(parts.services));
  return server::MakeGrpcPart(std::move(services));
}

}  // namespace

extern const server::FrontEnd kFrontEnd;
const server::FrontEnd kFrontEnd = {.name = "riva", .make_grpc = &MakeGrpc};

}  // namespace millrace::front_ends::riva
