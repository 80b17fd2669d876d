#include "server/frontends/kserve/infer_service.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/generic_stub.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/frontends/kserve/model_config.h"
#include "tests/unit/server/frontends/test_server.h"
#include "tests/unit/server/requests/infer_request.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using inference::GRPCInferenceService;
using ::testing::HasSubstr;
using ::testing::Not;

// A call of ModelInfer and what came of it.
struct Call {
  explicit Call(const std::shared_ptr<grpc::Channel>& channel)
      : stub(GRPCInferenceService::NewStub(channel)) {}
  grpc::Status Run(const inference::ModelInferRequest& request) {
    return stub->ModelInfer(&context, request, &response);
  }
  std::string Trailer(const std::string& key) const {
    const auto& trailers = context.GetServerTrailingMetadata();
    const auto found = trailers.find(key);
    return found == trailers.end() ? "" : std::string(found->second.data(), found->second.size());
  }

  std::unique_ptr<GRPCInferenceService::Stub> stub;
  grpc::ClientContext context;
  inference::ModelInferResponse response;
};

TEST(InferServiceTest, RequestComesBackAsItsResponse) {
  TestServer server;
  server.Add(InferInfo("null"), {.complete = Echo});
  auto request = InferRequest("null");
  request.set_id("call-7");
  Call call(server.channel);
  const grpc::Status status = call.Run(request);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(call.response.model_name(), "null");
  EXPECT_EQ(call.response.model_version(), "1");
  EXPECT_EQ(call.response.id(), "call-7");
  ASSERT_EQ(call.response.outputs_size(), 1);
  EXPECT_EQ(call.response.outputs(0).name(), "OUTPUT0");
  EXPECT_EQ(call.response.raw_output_contents(0), "0123456789abcdef");
  EXPECT_EQ(server.Count("null", Method::kModelInfer, absl::StatusCode::kOk), 1);
}

TEST(InferServiceTest, BadRequestsAreAnsweredWithoutTheModel) {
  TestServer server;
  std::atomic<int> steps{0};
  server.Add(InferInfo("null"), {.prepare = [&](models::Request&) { ++steps; }});
  server.Add(VoiceInfo("joe"), {});
  struct Case {
    std::function<void(inference::ModelInferRequest&)> spoil;
    StatusCode code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {[](auto& r) { r.clear_model_name(); }, StatusCode::INVALID_ARGUMENT, "model_name: is empty"},
      {[](auto& r) { r.set_model_name("nil"); }, StatusCode::NOT_FOUND, "'nil' is not loaded"},
      {[](auto& r) { r.set_model_name("../null"); }, StatusCode::NOT_FOUND, "is not loaded"},
      {[](auto& r) { r.set_model_version("2"); }, StatusCode::NOT_FOUND, "model_version: '2'"},
      {[](auto& r) { r.set_model_name("joe"); }, StatusCode::FAILED_PRECONDITION, "synthesis"},
      {[](auto& r) { r.set_id(std::string(129, 'x')); }, StatusCode::INVALID_ARGUMENT,
       "id: has 129"},
      {[](auto& r) { r.mutable_inputs(0)->set_shape(0, 5); }, StatusCode::INVALID_ARGUMENT,
       "inputs[0].shape"},
      {[](auto& r) { r.clear_raw_input_contents(); }, StatusCode::INVALID_ARGUMENT,
       "inputs[0].contents.fp32_contents"},
      {[](auto& r) { (*r.mutable_parameters())["timeout"].set_int64_param(-5); },
       StatusCode::INVALID_ARGUMENT,
       "parameters.timeout: must be a whole number of microseconds >= 0, not -5"},
      {[](auto& r) { (*r.mutable_parameters())["timeout"].set_string_param("1s"); },
       StatusCode::INVALID_ARGUMENT, "not string '1s'"},
      {[](auto& r) { (*r.mutable_parameters())["timeout"].set_bool_param(true); },
       StatusCode::INVALID_ARGUMENT, "parameters.timeout: must be"}};
  for (const Case& bad : cases) {
    auto request = InferRequest("null");
    bad.spoil(request);
    const grpc::Status status = Call(server.channel).Run(request);
    EXPECT_EQ(status.error_code(), bad.code) << bad.message;
    EXPECT_THAT(status.error_message(), HasSubstr(bad.message));
  }
  EXPECT_EQ(steps.load(), 0);
  EXPECT_EQ(server.admission.in_flight(), 0);
  // Calls that reach no model share one set of metrics: their names are not labels.
  EXPECT_EQ(server.Count("", Method::kModelInfer, absl::StatusCode::kNotFound), 3);
  EXPECT_THAT(server.metrics.Text(), Not(HasSubstr("nil")));
}

TEST(InferServiceTest, InvalidUtf8IsNamedOverTheWire) {
  TestServer server;
  server.Add(InferInfo("null"), {.complete = Echo});
  const std::string bytes = std::string("\x0A\x04null", 6) + std::string("\x1A\x02\xC3(", 4);
  grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  grpc::GenericStub stub(server.channel);
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  std::promise<grpc::Status> end;
  stub.UnaryCall(&context, "/inference.GRPCInferenceService/ModelInfer", {}, &request, &response,
                 [&](grpc::Status status) { end.set_value(std::move(status)); });
  const grpc::Status status = end.get_future().get();
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "id: is not valid UTF-8");
}

TEST(InferServiceTest, ModelHasItsSayInValidate) {
  TestServer server;
  server.Add(InferInfo("null"),
             {.validate = [](const auto&) { return absl::InvalidArgumentError("inputs: odd"); }});
  const grpc::Status status = Call(server.channel).Run(InferRequest("null"));
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "inputs: odd");
}

TEST(InferServiceTest, FailureOfTheModelIsInternalForThatCallAlone) {
  TestServer server;
  std::atomic<int> calls{0};
  server.Add(InferInfo("null"), {.forward =
                                     [&](models::Request&) {
                                       if (++calls == 1) throw std::runtime_error("device lost");
                                     },
                                 .complete = Echo});
  const grpc::Status status = Call(server.channel).Run(InferRequest("null"));
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("device lost"));
  EXPECT_TRUE(Call(server.channel).Run(InferRequest("null")).ok());
}

TEST(InferServiceTest, FullServerRefusesAtOnce) {
  TestServer server({.max_requests = 1});
  Gate gate;
  server.Add(InferInfo("null"),
             {.forward = [&](models::Request&) { gate.Pass(); }, .complete = Echo});
  Call first(server.channel);
  const JoiningThread runs([&] { EXPECT_TRUE(first.Run(InferRequest("null")).ok()); });
  gate.AwaitInside();
  const grpc::Status status = Call(server.channel).Run(InferRequest("null"));
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(
      server.metrics.ForModel("null")->refused[static_cast<size_t>(Refusal::kTooMany)]->Value(), 1);
  gate.Open();
}

TEST(InferServiceTest, FullQueueRefusesWithAHintForRetries) {
  TestServer server({.workers = 1, .queue_size = 1});
  Gate gate;
  const auto model = server.Add(
      InferInfo("null"), {.forward = [&](models::Request&) { gate.Pass(); }, .complete = Echo});
  Call running(server.channel), waiting(server.channel), refused(server.channel);
  const JoiningThread one([&] { EXPECT_TRUE(running.Run(InferRequest("null")).ok()); });
  gate.AwaitInside();
  const JoiningThread two([&] { EXPECT_TRUE(waiting.Run(InferRequest("null")).ok()); });
  Await([&] { return server.scheduler.depth(model->queue()) == 1; });
  const grpc::Status status = refused.Run(InferRequest("null"));
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("'null' is full"));
  EXPECT_GE(std::stoi(refused.Trailer("grpc-retry-pushback-ms")), 1);
  gate.Open();
}

TEST(InferServiceTest, DrainingServerIsUnavailable) {
  TestServer server;
  server.Add(InferInfo("null"), {.complete = Echo});
  server.admission.Close();
  const grpc::Status status = Call(server.channel).Run(InferRequest("null"));
  EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(
      server.metrics.ForModel("null")->refused[static_cast<size_t>(Refusal::kDraining)]->Value(),
      1);
}

TEST(InferServiceTest, RequestIdComesBackWithAnError) {
  TestServer server;
  Call named(server.channel), nameless(server.channel);
  named.context.AddMetadata("x-request-id", "abc-123");
  named.Run(InferRequest("nil"));
  EXPECT_EQ(named.Trailer("x-request-id"), "abc-123");
  nameless.Run(InferRequest("nil"));
  EXPECT_NE(nameless.Trailer("x-request-id"), "");
}

TEST(InferServiceTest, CancelledCallLeavesTheQueueAtOnce) {
  TestServer server({.workers = 1});
  Gate gate;
  std::atomic<int> steps{0};
  const auto model = server.Add(InferInfo("null"), {.forward =
                                                        [&](models::Request&) {
                                                          ++steps;
                                                          gate.Pass();
                                                        },
                                                    .complete = Echo});
  Call running(server.channel), waiting(server.channel);
  const JoiningThread one([&] { EXPECT_TRUE(running.Run(InferRequest("null")).ok()); });
  gate.AwaitInside();
  {
    const JoiningThread two(
        [&] { EXPECT_EQ(waiting.Run(InferRequest("null")).error_code(), StatusCode::CANCELLED); });
    Await([&] { return server.scheduler.depth(model->queue()) == 1; });
    waiting.context.TryCancel();
  }
  // The worker is still busy with the first.
  Await([&] { return server.admission.in_flight() == 1; });
  EXPECT_EQ(server.scheduler.depth(model->queue()), 0U);
  EXPECT_EQ(server.Count("null", Method::kModelInfer, absl::StatusCode::kCancelled), 1);
  gate.Open();
  Await([&] { return server.admission.in_flight() == 0; });
  server.Stop();
  EXPECT_EQ(steps.load(), 1);
}

TEST(InferServiceTest, ExpiredCallLeavesTheQueueAtOnce) {
  TestServer server({.workers = 1});
  Gate gate;
  server.Add(InferInfo("null"),
             {.forward = [&](models::Request&) { gate.Pass(); }, .complete = Echo});
  Call running(server.channel), waiting(server.channel);
  const JoiningThread one([&] { EXPECT_TRUE(running.Run(InferRequest("null")).ok()); });
  gate.AwaitInside();
  waiting.context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(20));
  EXPECT_EQ(waiting.Run(InferRequest("null")).error_code(), StatusCode::DEADLINE_EXCEEDED);
  Await([&] { return server.admission.in_flight() == 1; });
  gate.Open();
}

TEST(InferServiceTest, CancelReachesAStepThatRuns) {
  TestServer server;
  std::atomic<bool> inside{false};
  server.Add(InferInfo("null"), {.forward =
                                     [&](models::Request& request) {
                                       inside = true;
                                       Await([&] { return request.ShouldStop(); });
                                     },
                                 .complete = [](models::Request&) {}});
  Call call(server.channel);
  const JoiningThread one(
      [&] { EXPECT_EQ(call.Run(InferRequest("null")).error_code(), StatusCode::CANCELLED); });
  Await([&] { return inside.load(); });
  call.context.TryCancel();
  Await([&] { return server.admission.in_flight() == 0; });
}

TEST(InferServiceTest, DeadlineIsTheClientsOrTheServersLimit) {
  TestServer server({.max_request_time = std::chrono::seconds(100)});
  TimePoint deadline{};
  server.Add(InferInfo("null"),
             {.prepare = [&](models::Request& r) { deadline = r.deadline(); }, .complete = Echo});
  const auto seconds_left = [&](Call& call, int64_t timeout_us = 0) {
    const TimePoint before = Clock::Real().Now();
    auto request = InferRequest("null");
    // As Triton's clients send it, which have one without a value too.
    (*request.mutable_parameters())["timeout"].set_int64_param(timeout_us);
    EXPECT_TRUE(call.Run(request).ok());
    return std::chrono::duration<double>(deadline - before).count();
  };
  Call none(server.channel), near(server.channel), far(server.channel), asked(server.channel),
      asked_far(server.channel);
  near.context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(50));
  far.context.set_deadline(std::chrono::system_clock::now() + std::chrono::hours(5));
  // The call arrives a little after `before`, later on a busy machine.
  const double of_none = seconds_left(none);
  EXPECT_GE(of_none, 100);
  EXPECT_LT(of_none, 150);
  EXPECT_LT(seconds_left(near), 90);
  EXPECT_LT(seconds_left(far), 150);
  EXPECT_LT(seconds_left(asked, 50'000'000), 90);
  EXPECT_LT(seconds_left(asked_far, std::numeric_limits<int64_t>::max()), 150);
}

TEST(InferServiceTest, SaysWhatServes) {
  TestServer server;
  server.Add(InferInfo("null"), {});
  const auto stub = GRPCInferenceService::NewStub(server.channel);
  {
    grpc::ClientContext context;
    inference::ServerLiveResponse response;
    EXPECT_TRUE(stub->ServerLive(&context, {}, &response).ok());
    EXPECT_TRUE(response.live());
  }
  for (const bool ready : {true, false}) {
    server.ready = ready;
    grpc::ClientContext context;
    inference::ServerReadyResponse response;
    EXPECT_TRUE(stub->ServerReady(&context, {}, &response).ok());
    EXPECT_EQ(response.ready(), ready);
    inference::ModelReadyRequest request;
    request.set_name("null");
    inference::ModelReadyResponse model_response;
    grpc::ClientContext model_context;
    EXPECT_TRUE(stub->ModelReady(&model_context, request, &model_response).ok());
    EXPECT_EQ(model_response.ready(), ready);  // not while the server drains
  }
  server.ready = true;
  for (const auto& [name, version, ready] : std::vector<std::tuple<std::string, std::string, bool>>{
           {"null", "", true}, {"null", "1", true}, {"null", "2", false}, {"nil", "", false}}) {
    grpc::ClientContext context;
    inference::ModelReadyRequest request;
    request.set_name(name);
    request.set_version(version);
    inference::ModelReadyResponse response;
    EXPECT_TRUE(stub->ModelReady(&context, request, &response).ok());
    EXPECT_EQ(response.ready(), ready) << name << " " << version;
  }
  grpc::ClientContext context;
  inference::ModelMetadataRequest request;
  request.set_name("null");
  inference::ModelMetadataResponse response;
  ASSERT_TRUE(stub->ModelMetadata(&context, request, &response).ok());
  EXPECT_EQ(response.platform(), "torchscript");
  EXPECT_EQ(response.versions(0), "1");
  EXPECT_EQ(response.inputs(0).name(), "INPUT0");
  EXPECT_EQ(response.inputs(0).datatype(), "FP32");
  EXPECT_EQ(response.outputs(0).shape(0), 4);
  grpc::ClientContext other;
  request.set_name("nil");
  EXPECT_EQ(stub->ModelMetadata(&other, request, &response).error_code(), StatusCode::NOT_FOUND);
}

TEST(InferServiceTest, DescribesModelsAsTritonDoes) {
  TestServer server;
  server.Add(InferInfo("null"), {});
  server.Add(TranslatorInfo("en-pt", "en", "pt"), {});
  auto stub = GRPCInferenceService::NewStub(server.channel);
  inference::ModelConfigResponse response;
  const auto ask = [&](const char* name) {
    grpc::ClientContext context;
    inference::ModelConfigRequest request;
    request.set_name(name);
    return stub->ModelConfig(&context, request, &response).error_code();
  };
  EXPECT_EQ(ask("null"), StatusCode::OK);
  EXPECT_EQ(response.config().name(), "null");
  EXPECT_EQ(response.config().platform(), "torchscript");
  EXPECT_EQ(response.config().max_batch_size(), 0);
  EXPECT_EQ(response.config().input(0).name(), "INPUT0");
  EXPECT_EQ(response.config().input(0).data_type(), inference::TYPE_FP32);
  EXPECT_EQ(response.config().input(0).dims(0), 4);
  EXPECT_EQ(response.config().output(0).dims(0), 4);
  EXPECT_FALSE(response.config().model_transaction_policy().decoupled());
  EXPECT_EQ(ask("en-pt"), StatusCode::OK);
  EXPECT_EQ(response.config().input_size(), 0);
  EXPECT_EQ(ask("nil"), StatusCode::NOT_FOUND);
}

TEST(InferServiceTest, StatisticsKeepFailuresApart) {
  TestServer server({.workers = 1, .queue_size = 1});
  Gate gate;
  std::atomic<bool> fails{false};
  const auto model = server.Add(InferInfo("null"), {.forward =
                                                        [&](models::Request&) {
                                                          gate.Pass();
                                                          if (fails) throw std::runtime_error("no");
                                                        },
                                                    .complete = Echo});
  server.Add(VoiceInfo("joe"), {});
  auto stub = GRPCInferenceService::NewStub(server.channel);
  inference::ModelStatisticsResponse response;
  const auto ask = [&](const char* name, const char* version = "") {
    grpc::ClientContext context;
    inference::ModelStatisticsRequest request;
    request.set_name(name);
    request.set_version(version);
    return stub->ModelStatistics(&context, request, &response).error_code();
  };
  EXPECT_EQ(ask("null"), StatusCode::OK);
  EXPECT_EQ(response.model_stats(0).last_inference(), 0U);
  Call running(server.channel), waiting(server.channel), refused(server.channel);
  {
    const JoiningThread one([&] { EXPECT_TRUE(running.Run(InferRequest("null")).ok()); });
    gate.AwaitInside();
    const JoiningThread two([&] { EXPECT_TRUE(waiting.Run(InferRequest("null")).ok()); });
    Await([&] { return server.scheduler.depth(model->queue()) == 1; });
    EXPECT_FALSE(refused.Run(InferRequest("null")).ok());
    gate.Open();
  }
  fails = true;
  EXPECT_FALSE(Call(server.channel).Run(InferRequest("null")).ok());
  EXPECT_EQ(ask("null", "1"), StatusCode::OK);
  ASSERT_EQ(response.model_stats_size(), 1);
  const inference::ModelStatistics& null = response.model_stats(0);
  EXPECT_EQ(null.name(), "null");
  EXPECT_EQ(null.version(), "1");
  EXPECT_EQ(null.inference_count(), 2U);
  EXPECT_EQ(null.execution_count(), 2U);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  EXPECT_LE(null.last_inference(), static_cast<uint64_t>(now));
  EXPECT_GT(null.last_inference(), static_cast<uint64_t>(now) - 600'000);
  const inference::InferStatistics& stats = null.inference_stats();
  EXPECT_EQ(stats.success().count(), 2U);
  EXPECT_EQ(stats.fail().count(), 2U);
  for (const auto* part :
       {&stats.queue(), &stats.compute_input(), &stats.compute_infer(), &stats.compute_output()}) {
    EXPECT_EQ(part->count(), 2U);
  }
  EXPECT_GE(stats.success().ns(), stats.queue().ns() + stats.compute_input().ns() +
                                      stats.compute_infer().ns() + stats.compute_output().ns());
  EXPECT_EQ(stats.cache_hit().count() + stats.cache_miss().count(), 0U);
  ASSERT_EQ(null.batch_stats_size(), 1);
  EXPECT_EQ(null.batch_stats(0).batch_size(), 1U);
  EXPECT_EQ(null.batch_stats(0).compute_infer().count(), 2U);
  EXPECT_EQ(null.batch_stats(0).compute_infer().ns(), stats.compute_infer().ns());
  response.Clear();
  EXPECT_EQ(ask(""), StatusCode::OK);
  ASSERT_EQ(response.model_stats_size(), 2);
  EXPECT_EQ(response.model_stats(0).name(), "joe");
  EXPECT_EQ(ask("nil"), StatusCode::NOT_FOUND);
  EXPECT_EQ(ask("null", "2"), StatusCode::NOT_FOUND);
}

// The wire's names of types are made of ours.
TEST(ModelConfigTest, EveryTypeHasItsPlace) {
  models::ModelInfo info;
  for (int type = 0; type <= static_cast<int>(models::DataType::kBytes); ++type)
    info.infer().inputs.push_back({"X", static_cast<models::DataType>(type), {}});
  inference::ModelConfig config;
  DescribeModel(info, config);
  std::set<int> types;
  for (const auto& input : config.input()) types.insert(input.data_type());
  EXPECT_EQ(types.size(), info.infer().inputs.size());
  EXPECT_FALSE(types.contains(inference::TYPE_INVALID));
}

}  // namespace
}  // namespace millrace::server
