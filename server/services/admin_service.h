#pragma once

#include <string>

#include "millrace/v1/admin.grpc.pb.h"
#include "server/control/main_loop.h"
#include "server/control/model_manager.h"
#include "server/control/server_status.h"
#include "server/services/services.h"

namespace millrace::server {

// millrace.v1.AdminService. Loading is posted to the main thread and answered from there.
// Thread-safe.
class AdminService final : public v1::AdminService::CallbackService {
 public:
  AdminService(Services& services, ModelManager& models, const ServerStatus& status,
               MainLoop& main_loop)
      : services_(services), models_(models), status_(status), main_loop_(main_loop) {}

  grpc::ServerUnaryReactor* ListModels(grpc::CallbackServerContext* rpc,
                                       const v1::ListModelsRequest* request,
                                       v1::ListModelsResponse* response) override;
  grpc::ServerUnaryReactor* LoadModel(grpc::CallbackServerContext* rpc,
                                      const v1::LoadModelRequest* request,
                                      v1::LoadModelResponse* response) override;
  grpc::ServerUnaryReactor* UnloadModel(grpc::CallbackServerContext* rpc,
                                        const v1::UnloadModelRequest* request,
                                        v1::UnloadModelResponse* response) override;
  grpc::ServerUnaryReactor* GetServerInfo(grpc::CallbackServerContext* rpc,
                                          const v1::GetServerInfoRequest* request,
                                          v1::GetServerInfoResponse* response) override;

 private:
  void Fill(const ModelStatusView& view, v1::ModelStatus& status) const;

  Services& services_;
  ModelManager& models_;
  const ServerStatus& status_;
  MainLoop& main_loop_;
};

}  // namespace millrace::server
