#pragma once

#include <string>
#include <vector>

#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/server_builder.h"
#include "server/rpc/polling_thread.h"
#include "server/rpc/rpc_service.h"

namespace millrace::server {

// Answers calls of methods that no service serves: UNIMPLEMENTED, with what there is instead. gRPC
// itself would say nothing. It must outlive the server.
class UnknownMethods {
 public:
  // The services that there are; they must outlive it.
  explicit UnknownMethods(const std::vector<RpcService*>& services) : services_(services) {}
  UnknownMethods(const UnknownMethods&) = delete;
  UnknownMethods& operator=(const UnknownMethods&) = delete;

  void Register(grpc::ServerBuilder& builder) { builder.RegisterAsyncGenericService(&service_); }
  // Waits for the next such call. On the polling thread, or before it starts.
  void Await(PollingThread& thread) { new Call(*this, thread); }

  // What a client is told that calls a path such as "/package.Service/Method".
  std::string Explain(std::string_view path) const;

 private:
  // Owns itself: made before the call comes, gone once it is answered.
  class Call final : public Event {
   public:
    Call(UnknownMethods& methods, PollingThread& thread);
    void Happen(bool ok) override;

   private:
    ~Call() { thread_.RemoveCall(); }

    UnknownMethods& methods_;
    PollingThread& thread_;
    grpc::GenericServerContext context_;
    grpc::GenericServerAsyncReaderWriter stream_{&context_};
    bool came_ = false;
  };

  grpc::AsyncGenericService service_;
  const std::vector<RpcService*> services_;
};

}  // namespace millrace::server
