// The floor: what gRPC itself costs. A callback server that answers KServe ModelInfer on the gRPC
// thread with the bytes it got, without validation, queue, worker or metrics. A real server's
// distance from it is that server's own cost.
//
//   millrace_floor [--port N] [--port-file FILE]     (port 0, the default: a free one)

#include <grpcpp/grpcpp.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "inference/grpc_service.grpc.pb.h"

namespace {

class EchoService final : public inference::GRPCInferenceService::CallbackService {
 public:
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                       const inference::ModelInferRequest* request,
                                       inference::ModelInferResponse* response) override {
    response->set_model_name(request->model_name());
    response->set_id(request->id());
    for (const std::string& raw : request->raw_input_contents()) {
      auto* output = response->add_outputs();
      output->set_name("OUTPUT0");
      output->set_datatype("FP32");
      output->add_shape(static_cast<int64_t>(raw.size() / sizeof(float)));
      response->add_raw_output_contents(raw);
    }
    grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
    reactor->Finish(grpc::Status::OK);
    return reactor;
  }
};

int Usage() {
  std::fputs("usage: millrace_floor [--port N] [--port-file FILE]\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  int port = 0;
  std::string port_file;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return Usage();
    const std::string_view flag = argv[i];
    const std::string_view value = argv[i + 1];
    if (flag == "--port-file") {
      port_file = value;
    } else if (flag != "--port" ||
               std::from_chars(value.data(), value.data() + value.size(), port).ec != std::errc()) {
      return Usage();
    }
  }

  // Blocked before gRPC starts its threads, so that only sigwait below gets them.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  EchoService service;
  grpc::ServerBuilder builder;
  int bound_port = 0;
  builder.AddListeningPort("127.0.0.1:" + std::to_string(port), grpc::InsecureServerCredentials(),
                           &bound_port);
  builder.RegisterService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || bound_port == 0) {
    std::fprintf(stderr, "millrace_floor: cannot listen on 127.0.0.1:%d\n", port);
    return 1;
  }
  if (!port_file.empty()) {
    std::ofstream(port_file) << "{\"grpc\": " << bound_port << "}\n";
  }
  std::fprintf(stderr, "listening on 127.0.0.1:%d\n", bound_port);

  int signal = 0;
  sigwait(&signals, &signal);
  server->Shutdown();
  return 0;
}
