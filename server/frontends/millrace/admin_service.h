#pragma once

#include <string>
#include <vector>

#include "millrace/v1/admin.pb.h"
#include "server/control/load_queue.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/control/server_status.h"
#include "server/requests/pull_action.h"
#include "server/requests/services.h"
#include "server/rpc/rpc_service.h"
#include "server/scheduling/step_timeline.h"

namespace millrace::server {

// Serves millrace.v1.AdminService. Loading waits for the main thread and is answered from there.
// Thread-safe.
class AdminService final : public RpcService {
 public:
  AdminService(Services& services, ModelManager& models, const ServerStatus& status,
               LoadQueue& loads, StepTimeline& steps, const PullAction& pull = nullptr,
               const RemoveAction& remove = nullptr);

 private:
  absl::Status ListModels(const ByteCall& call, v1::ListModelsResponse& response) const;
  void LoadModel(ByteCall& call);
  absl::Status UnloadModel(const ByteCall& call, const v1::UnloadModelRequest& request);
  absl::Status GetServerInfo(const ByteCall& call, v1::GetServerInfoResponse& response) const;
  absl::Status GetTimeline(const ByteCall& call, const v1::GetTimelineRequest& request,
                           v1::GetTimelineResponse& response);

  absl::Status ListKeyUsage(const ByteCall& call, v1::ListKeyUsageResponse& response) const;

  void Fill(const ModelStatusView& view, v1::ModelStatus& status) const;

  Services& services_;
  ModelManager& models_;
  const ServerStatus& status_;
  LoadQueue& loads_;
  StepTimeline& steps_;
  const PullAction pull_;
  const RemoveAction remove_;
  const std::vector<std::string> repository_folders_;  // canonical
};

}  // namespace millrace::server
