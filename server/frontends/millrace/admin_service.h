#pragma once

#include <string>
#include <vector>

#include "millrace/v1/admin.pb.h"
#include "server/control/load_queue.h"
#include "server/control/model_manager.h"
#include "server/control/server_status.h"
#include "server/executors/convicted_requests.h"
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
               const RemoveAction& remove = nullptr, ConvictedRequests* convicted = nullptr);

 private:
  absl::Status ListModels(const v1::ListModelsRequest& request,
                          v1::ListModelsResponse& response) const;
  void LoadModel(ByteCall& call);
  absl::Status UnloadModel(const v1::UnloadModelRequest& request,
                           v1::UnloadModelResponse& response) const;
  absl::Status GetServerInfo(const v1::GetServerInfoRequest& request,
                             v1::GetServerInfoResponse& response) const;
  absl::Status GetTimeline(const v1::GetTimelineRequest& request,
                           v1::GetTimelineResponse& response) const;

  absl::Status ListKeyUsage(const v1::ListKeyUsageRequest& request,
                            v1::ListKeyUsageResponse& response) const;
  absl::Status ListConvictedRequests(const v1::ListConvictedRequestsRequest& request,
                                     v1::ListConvictedRequestsResponse& response) const;
  absl::Status ClearConvictedRequests(const v1::ClearConvictedRequestsRequest& request,
                                      v1::ClearConvictedRequestsResponse& response) const;
  // Returns OK if there may be convicted requests.
  absl::Status CheckConvicted() const;

  void Fill(const ModelStatusView& view, v1::ModelStatus& status) const;

  Services& services_;
  ModelManager& models_;
  const ServerStatus& status_;
  LoadQueue& loads_;
  StepTimeline& steps_;
  const PullAction pull_;
  const RemoveAction remove_;
  ConvictedRequests* const convicted_;                 // null: there are no executors
  const std::vector<std::string> repository_folders_;  // canonical
};

}  // namespace millrace::server
