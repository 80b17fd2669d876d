#pragma once

#include <functional>

#include "inference/grpc_service.grpc.pb.h"
#include "server/services/services.h"

namespace millrace::server {

// KServe v2. ModelInfer takes its bytes raw, so that a bad string gets a clear answer. Thread-safe.
class InferService final
    : public inference::GRPCInferenceService::WithRawCallbackMethod_ModelInfer<
          inference::GRPCInferenceService::WithCallbackMethod_ModelMetadata<
              inference::GRPCInferenceService::WithCallbackMethod_ServerMetadata<
                  inference::GRPCInferenceService::WithCallbackMethod_ModelReady<
                      inference::GRPCInferenceService::WithCallbackMethod_ServerReady<
                          inference::GRPCInferenceService::WithCallbackMethod_ServerLive<
                              inference::GRPCInferenceService::Service>>>>>> {
 public:
  // ready: every model is warm and requests are accepted.
  InferService(Services& services, std::function<bool()> ready)
      : services_(services), ready_(std::move(ready)) {}

  grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* rpc,
                                       const inference::ServerLiveRequest* request,
                                       inference::ServerLiveResponse* response) override;
  grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* rpc,
                                        const inference::ServerReadyRequest* request,
                                        inference::ServerReadyResponse* response) override;
  grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* rpc,
                                       const inference::ModelReadyRequest* request,
                                       inference::ModelReadyResponse* response) override;
  grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* rpc,
                                           const inference::ServerMetadataRequest* request,
                                           inference::ServerMetadataResponse* response) override;
  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* rpc,
                                          const inference::ModelMetadataRequest* request,
                                          inference::ModelMetadataResponse* response) override;
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* rpc,
                                       const grpc::ByteBuffer* request,
                                       grpc::ByteBuffer* response) override;

 private:
  Services& services_;
  const std::function<bool()> ready_;
};

}  // namespace millrace::server
