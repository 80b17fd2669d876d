#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "server/metrics/metrics.h"
#include "server/rpc/rpc_server.h"
#include "server/scheduling/admission.h"
#include "server/scheduling/model_directory.h"
#include "server/scheduling/scheduler.h"
#include "server/scheduling/thread_executor.h"
#include "server/services/infer_service.h"
#include "server/services/services.h"
#include "server/services/stream_registry.h"
#include "server/services/synthesis_service.h"
#include "server/services/translation_service.h"
#include "tests/fakes/fake_device.h"
#include "tests/fakes/fake_model.h"

namespace millrace::server {

// Waits for what another thread is about to do; the test's time limit is the bound.
inline void Await(const std::function<bool()>& condition) {
  while (!condition()) std::this_thread::yield();
}

// The real way of a request (services, admission, queue, workers) on a port of its own, with fake
// models on a fake device.
class TestServer {
 public:
  struct Options {
    int workers = 2;
    int64_t max_requests = 1000;
    size_t queue_size = 1000;
    const ApiKeyStore* keys = nullptr;
    Duration max_request_time = std::chrono::hours(1);
    size_t max_buffered_bytes = 64 << 10;
  };

  explicit TestServer(Options options)
      : admission(options.max_requests),
        scheduler({.default_queue_size = options.queue_size, .workers = options.workers}),
        executor_(options.workers, device_, scheduler),
        services_{.admission = admission,
                  .scheduler = scheduler,
                  .models = directory,
                  .streams = streams,
                  .no_model_metrics = *no_model_metrics,
                  .keys = options.keys,
                  .max_request_time = options.max_request_time,
                  .max_buffered_bytes = options.max_buffered_bytes} {
    EXPECT_TRUE(executor_.Start({}).ok());
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
    return grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments);
  }

  std::shared_ptr<ServedModel> Add(models::ModelInfo info, testing::ModelHooks hooks) {
    const std::string name = info.name;
    auto model = std::make_shared<ServedModel>(
        std::make_unique<testing::FakeModel>(std::move(info), std::move(hooks)), scheduler,
        metrics.ForModel(name));
    directory.Put(model);
    return model;
  }

  Services& services() { return services_; }

  // As the process stops, without a drain. Idempotent.
  void Stop() {
    if (server_ == nullptr) return;
    admission.Close();
    for (auto& job : scheduler.Close())
      FinishJob(std::move(job), absl::UnavailableError("the server is shutting down"));
    server_->Shutdown(std::chrono::system_clock::now());
    executor_.Join();
    server_.reset();
  }

  // How many calls of a method have ended with a code.
  double Count(const std::string& model, Method method, absl::StatusCode code) {
    return metrics.ForModel(model)
        ->requests[static_cast<size_t>(method)][static_cast<size_t>(code)]
        ->Value();
  }

  Metrics metrics{BuildInfo{}};
  const std::shared_ptr<ModelMetrics> no_model_metrics = metrics.ForModel("");
  Admission admission;
  Scheduler scheduler;
  ModelDirectory directory;
  StreamRegistry streams{std::chrono::seconds(30)};
  bool ready = true;
  std::shared_ptr<grpc::Channel> channel;

 private:
  testing::FakeDevice device_;
  ThreadExecutor executor_;
  Services services_;
  InferService infer_{services_, [this] { return ready; }};
  TranslationService translation_{services_};
  SynthesisService synthesis_{services_};
  std::string address_;
  std::unique_ptr<RpcServer> server_;
};

// A gate in a model's forward: the test knows when a step is inside, and lets it go.
class Gate {
 public:
  // On the worker.
  void Pass() {
    ++inside_;
    Await([this] { return open_.load(); });
  }
  // On the test's thread.
  void AwaitInside(int steps = 1) {
    Await([&] { return inside_.load() >= steps; });
  }
  void Open() { open_ = true; }

 private:
  std::atomic<int> inside_{0};
  std::atomic<bool> open_{false};
};

inline models::ModelInfo InferInfo(const std::string& name) {
  models::ModelInfo info;
  info.name = name;
  info.platform = "torchscript";
  info.inputs = {{"INPUT0", models::DataType::kFp32, {4}}};
  info.outputs = {{"OUTPUT0", models::DataType::kFp32, {4}}};
  return info;
}

inline models::ModelInfo TranslatorInfo(const std::string& name, const std::string& source,
                                        const std::string& target) {
  models::ModelInfo info;
  info.name = name;
  info.task = models::Task::kTranslation;
  info.source_language = source;
  info.target_language = target;
  return info;
}

inline models::ModelInfo VoiceInfo(const std::string& name) {
  models::ModelInfo info;
  info.name = name;
  info.task = models::Task::kSynthesis;
  info.voices = {"first", "second"};
  info.sample_rate = 8000;
  return info;
}

// Gives back what came in.
inline void Echo(models::Request& request) {
  models::InferOutput output;
  output.outputs = std::get<models::InferInput>(request.input()).inputs;
  for (models::Tensor& tensor : output.outputs) tensor.name = "OUTPUT0";
  request.Emit(std::move(output));
  request.Finish(absl::OkStatus());
}

// A request for an InferInfo model.
inline inference::ModelInferRequest InferRequest(const std::string& model) {
  inference::ModelInferRequest request;
  request.set_model_name(model);
  auto& input = *request.add_inputs();
  input.set_name("INPUT0");
  input.set_datatype("FP32");
  input.add_shape(4);
  request.add_raw_input_contents("0123456789abcdef");
  return request;
}

}  // namespace millrace::server
