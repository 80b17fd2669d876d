#pragma once

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <memory>
#include <string>

#include "inference/grpc_service.grpc.pb.h"
#include "millrace/v1/synthesis.grpc.pb.h"
#include "millrace/v1/translation.grpc.pb.h"
#include "server/frontends/kserve/infer_service.h"
#include "server/frontends/millrace/synthesis_service.h"
#include "server/frontends/millrace/translation_service.h"
#include "server/rpc/rpc_server.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// The real way of a request (services, admission, queue, workers) on a port of its own, with fake
// models on a fake device.
class TestServer : public TestBackend {
 public:
  explicit TestServer(Options options) : TestBackend(options) {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(16 << 20);
    server_ = RpcServer::Start(builder, {&infer_, &translation_, &synthesis_});
    address_ = "127.0.0.1:" + std::to_string(port);
    channel = NewChannel();
  }
  TestServer() : TestServer(Options()) {}
  ~TestServer() { Stop(); }

  // A connection of its own, so that its flow control is its own.
  std::shared_ptr<grpc::Channel> NewChannel() const {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetMaxReceiveMessageSize(-1);
    // The window of its flow control does not grow with what the connection seems to carry.
    arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 1 << 20);
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }

  // As the process stops, without a drain. Idempotent.
  void Stop() {
    if (server_ == nullptr) return;
    admission.Close();
    CloseScheduler();
    server_->Shutdown(std::chrono::system_clock::now());
    JoinWorkers();
    server_.reset();
  }

  bool ready = true;
  std::shared_ptr<grpc::Channel> channel;

 private:
  InferService infer_{services(), [this] { return ready; }};
  TranslationService translation_{services()};
  SynthesisService synthesis_{services()};
  std::string address_;
  std::unique_ptr<RpcServer> server_;
};

}  // namespace millrace::server
