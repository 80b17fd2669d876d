#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "server/control/load_queue.h"
#include "server/control/model_manager.h"
#include "server/control/server_status.h"
#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/millrace/admin_service.h"
#include "server/frontends/millrace/synthesis_service.h"
#include "server/frontends/millrace/translation_service.h"
#include "server/frontends/riva/riva_synthesis_service.h"
#include "server/frontends/riva/riva_translation_service.h"
#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"
#include "server/scheduling/step_timeline.h"

namespace millrace::server {

// The services that every process has over gRPC. The arguments of the constructor must outlive it.
class GrpcServices {
 public:
  GrpcServices(Services& services, ModelManager& models, const ServerStatus& status,
               LoadQueue& loads, StepTimeline& steps, const RepositoryActions& repository)
      : infer_(
            services, [&status] { return status.Ready(); }, repository),
        translation_(services),
        synthesis_(services),
        riva_synthesis_(services),
        riva_translation_(services),
        admin_(services, models, status, loads, steps, repository.pull, repository.remove) {}

  // Returns all of them, which live as long as this.
  std::vector<RpcService*> All() {
    return {&infer_, &translation_, &synthesis_, &riva_synthesis_, &riva_translation_, &admin_};
  }

 private:
  InferService infer_;
  TranslationService translation_;
  SynthesisService synthesis_;
  RivaSynthesisService riva_synthesis_;
  RivaTranslationService riva_translation_;
  AdminService admin_;
};

}  // namespace millrace::server
