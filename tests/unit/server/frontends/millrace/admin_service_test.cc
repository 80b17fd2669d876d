#include "server/frontends/millrace/admin_service.h"

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "millrace/v1/admin.grpc.pb.h"
#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/runtime.h"
#include "server/control/load_queue.h"
#include "server/control/server_status.h"
#include "server/rpc/rpc_server.h"
#include "tests/unit/server/control/repository_fixture.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

// AdminService on a repository of fake models; this thread is the main one.
class AdminServiceTest : public RepositoryTest {
 protected:
  AdminServiceTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    server_ = RpcServer::Start(builder, {&service_});
    stub_ = v1::AdminService::NewStub(grpc::CreateChannel("127.0.0.1:" + std::to_string(port),
                                                          grpc::InsecureChannelCredentials()));
  }

  // Runs the main loop while a client makes the call.
  template <typename Body>
  void WhileTheMainLoopRuns(Body body) {
    const JoiningThread client([&] {
      body();
      main_loop_.Stop();
    });
    main_loop_.Run();
  }
  grpc::Status Load(const std::string& model, v1::LoadModelResponse& response) {
    grpc::ClientContext context;
    v1::LoadModelRequest request;
    request.set_model(model);
    return stub_->LoadModel(&context, request, &response);
  }

  static runtime::RuntimeOptions Cpu() {
    runtime::RuntimeOptions options;
    options.device = runtime::DeviceType::kCpu;
    options.workers = 2;
    return options;
  }

  MainLoop main_loop_;
  const std::unique_ptr<runtime::Runtime> runtime_ = runtime::Runtime::Bootstrap(Cpu());
  Admission admission_{10};
  StreamRegistry streams_{std::chrono::seconds(30)};
  const std::shared_ptr<ModelMetrics> no_model_metrics_ = metrics_.ForModel("");
  ServerStatus status_{*runtime_, *manager_, directory_, scheduler_, admission_, 2};
  Services services_{.admission = admission_,
                     .scheduler = scheduler_,
                     .models = directory_,
                     .streams = streams_,
                     .no_model_metrics = *no_model_metrics_};
  LoadQueue loads_{main_loop_, [this](std::string_view model) { return manager_->Load(model); }};
  StepTimeline steps_{2};
  ConvictedRequests convicted_;
  AdminService service_{services_, *manager_, status_, loads_,
                        steps_,    nullptr,   nullptr, &convicted_};
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::AdminService::Stub> stub_;
};

TEST_F(AdminServiceTest, LoadsOnTheMainThreadAndShowsTheModel) {
  AddToDisk("m");
  AddToDisk("m", 2);
  warm_up_inputs_ = 1;
  std::thread::id loader;
  hooks_["m"].forward = [&](models::Request&) { loader = std::this_thread::get_id(); };
  v1::LoadModelResponse response;
  grpc::Status status;
  WhileTheMainLoopRuns([&] { status = Load("m", response); });
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(loader, std::this_thread::get_id());
  EXPECT_EQ(response.model().name(), "m");
  EXPECT_EQ(response.model().version(), "2");
  EXPECT_EQ(response.model().state(), v1::MODEL_STATE_READY);
  EXPECT_EQ(response.model().platform(), "torchscript");
  EXPECT_EQ(response.model().task(), "infer");
  EXPECT_EQ(response.model().queue_size(), 256U);
  EXPECT_EQ(Serving("m"), 2);
}

TEST_F(AdminServiceTest, LoadThatFailsSaysWhy) {
  AddToDisk("m");
  load_errors_["m"] = absl::InvalidArgumentError("model.pt: is cut short");
  v1::LoadModelResponse response;
  grpc::Status broken, missing, bad_name;
  WhileTheMainLoopRuns([&] {
    broken = Load("m", response);
    missing = Load("nil", response);
    bad_name = Load("../m", response);
  });
  EXPECT_EQ(broken.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(broken.error_message(), "model.pt: is cut short");
  EXPECT_EQ(missing.error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(bad_name.error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(AdminServiceTest, ListsWhatServesAndWhatDoesNot) {
  for (const char* name : {"a", "b", "c"}) AddToDisk(name);
  load_errors_["b"] = absl::InternalError("broken");
  ASSERT_TRUE(manager_->Load("a").ok());
  ASSERT_FALSE(manager_->Load("b").ok());
  grpc::ClientContext context;
  v1::ListModelsResponse response;
  ASSERT_TRUE(stub_->ListModels(&context, {}, &response).ok());
  ASSERT_EQ(response.models_size(), 3);
  EXPECT_EQ(response.models(0).state(), v1::MODEL_STATE_READY);
  EXPECT_EQ(response.models(1).state(), v1::MODEL_STATE_FAILED);
  EXPECT_EQ(response.models(1).error(), "broken");
  EXPECT_EQ(response.models(2).state(), v1::MODEL_STATE_AVAILABLE);
  EXPECT_EQ(response.models(2).name(), "c");
}

TEST_F(AdminServiceTest, ListsAnIdleModelWithWhatIsKnownOfIt) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  directory_.Put(ServedModel::MakeIdle(**directory_.Find("m", ""), [](const auto&, Hold::Job) {}));
  grpc::ClientContext context;
  v1::ListModelsResponse response;
  ASSERT_TRUE(stub_->ListModels(&context, {}, &response).ok());
  ASSERT_EQ(response.models_size(), 1);
  EXPECT_EQ(response.models(0).state(), v1::MODEL_STATE_IDLE);
  EXPECT_EQ(response.models(0).task(), "infer");
  EXPECT_EQ(response.models(0).queue_size(), 256U);
}

TEST_F(AdminServiceTest, UnloadTakesItOutOfService) {
  AddToDisk("m");
  ASSERT_TRUE(manager_->Load("m").ok());
  v1::UnloadModelRequest request;
  request.set_model("m");
  v1::UnloadModelResponse response;
  {
    grpc::ClientContext context;
    EXPECT_TRUE(stub_->UnloadModel(&context, request, &response).ok());
  }
  EXPECT_EQ(Serving("m"), 0);
  grpc::ClientContext context;
  EXPECT_EQ(stub_->UnloadModel(&context, request, &response).error_code(), StatusCode::NOT_FOUND);
}

TEST_F(AdminServiceTest, TellsWhatRuns) {
  const auto ticket = admission_.TryEnter();
  grpc::ClientContext context;
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(stub_->GetServerInfo(&context, {}, &info).ok());
  EXPECT_NE(info.version(), "");
  EXPECT_EQ(info.provenance().device(), "cpu");
  EXPECT_NE(info.provenance().libtorch_version(), "");
  EXPECT_THAT(info.provenance().libtorch_path(), HasSubstr("libtorch_cpu"));
  EXPECT_EQ(info.streams().slots(), 32U);
  EXPECT_EQ(info.streams().leased(), 0U);
  EXPECT_EQ(info.limiter().permits(), static_cast<uint32_t>(runtime_->limiter().permits()));
  EXPECT_EQ(info.limiter().source(), "policy");
  EXPECT_EQ(info.workers(), 2U);
  EXPECT_EQ(info.mode(), "parallel");
  EXPECT_EQ(info.requests_in_flight(), 1U);
  EXPECT_GT(info.uptime_seconds(), 0);
}

// A caller who has left is not loaded for, however often it asks.
TEST_F(AdminServiceTest, LoadsWhoseCallersHaveLeftAreNotRun) {
  AddToDisk("m");
  AddToDisk("n");
  std::atomic<int> loads{0};
  warm_up_inputs_ = 1;
  hooks_["m"].forward = [&](models::Request&) { ++loads; };
  for (int i = 0; i < 40; ++i) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(i % 4));
    v1::LoadModelRequest request;
    request.set_model("m");
    v1::LoadModelResponse response;
    EXPECT_EQ(stub_->LoadModel(&context, request, &response).error_code(),
              StatusCode::DEADLINE_EXCEEDED);
  }
  // Cancellations arrive in their own time; then there is room for every caller.
  std::vector<grpc::Status> statuses(LoadQueue::kMaxWaiting);
  {
    std::vector<JoiningThread> callers;
    std::atomic<size_t> ended{0};
    for (grpc::Status& status : statuses) {
      callers.emplace_back([&] {
        v1::LoadModelResponse response;
        do {
          status = Load("n", response);
        } while (status.error_code() == StatusCode::RESOURCE_EXHAUSTED);
        if (++ended == statuses.size()) main_loop_.Stop();
      });
    }
    main_loop_.Run();
  }
  for (const grpc::Status& status : statuses) EXPECT_TRUE(status.ok()) << status.error_message();
  // One more may have begun before the last of them was known to have left.
  EXPECT_LE(loads, 2);
}

// A load that still waits when the server stops is answered, or Shutdown would wait for ever.
TEST_F(AdminServiceTest, LoadThatWaitsAtTheEndIsAnswered) {
  AddToDisk("m");
  grpc::Status before;
  v1::LoadModelResponse response;
  std::atomic<bool> sent{false};
  {
    const JoiningThread client([&] {
      sent = true;
      before = Load("m", response);
    });
    Await([&] { return sent.load(); });
    main_loop_.CloseTasks();  // before or after the call arrived: it is answered
  }
  EXPECT_EQ(before.error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(Load("m", response).error_code(), StatusCode::UNAVAILABLE);
  server_->Shutdown(std::chrono::system_clock::now());
  EXPECT_EQ(Serving("m"), 0);
}

TEST_F(AdminServiceTest, ReturnsEachStepOnce) {
  const auto next = [this](const std::vector<uint64_t>& seen) {
    grpc::ClientContext context;
    v1::GetTimelineRequest request;
    request.mutable_seen()->Assign(seen.begin(), seen.end());
    v1::GetTimelineResponse response;
    const grpc::Status status = stub_->GetTimeline(&context, request, &response);
    return std::pair(status, response);
  };
  const auto first = next({});
  ASSERT_TRUE(first.first.ok()) << first.first.error_message();
  ASSERT_EQ(first.second.workers_size(), 2);
  const TimePoint begin = Clock::Real().Now();
  steps_.Begin(1, "m", 3, begin);
  steps_.End(1, begin + std::chrono::microseconds(5));
  const auto second = next({first.second.workers(0).next(), first.second.workers(1).next()});
  ASSERT_EQ(second.second.workers(1).steps_size(), 1);
  const auto& step = second.second.workers(1).steps(0);
  EXPECT_EQ(step.model(), "m");
  EXPECT_EQ(step.requests(), 3U);
  EXPECT_EQ(step.duration_ns(), 5'000);
  EXPECT_GE(step.begin_ns(), first.second.now_ns());
  EXPECT_EQ(second.second.workers(0).steps_size(), 0);
  const auto wrong = next({1, 2, 3});
  EXPECT_EQ(wrong.first.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(wrong.first.error_message(), HasSubstr("seen: has 3 numbers"));
}

TEST_F(AdminServiceTest, ListsConvictedRequestsAndClearsThem) {
  const TimePoint now = services_.clock.Now();
  convicted_.Convict(1, "m", "executor-1", now);
  convicted_.Convict(2, "n", "executor-2", now);
  convicted_.Refuse(2, now);
  const auto list = [&] {
    grpc::ClientContext context;
    v1::ListConvictedRequestsResponse response;
    EXPECT_TRUE(stub_->ListConvictedRequests(&context, {}, &response).ok());
    return response;
  };
  const v1::ListConvictedRequestsResponse both = list();
  ASSERT_EQ(both.requests_size(), 2);
  EXPECT_EQ(both.requests(1).crash(), "executor-2");
  EXPECT_EQ(both.requests(1).model(), "n");
  EXPECT_EQ(both.requests(1).refused_requests(), 1U);
  EXPECT_GT(both.requests(1).seconds_left(), 3500);
  EXPECT_LE(both.requests(1).seconds_left(), 3600);

  const auto clear = [&](const std::string& crash, uint32_t cleared) {
    grpc::ClientContext context;
    v1::ClearConvictedRequestsRequest request;
    request.set_crash(crash);
    v1::ClearConvictedRequestsResponse response;
    const grpc::Status status = stub_->ClearConvictedRequests(&context, request, &response);
    EXPECT_EQ(response.cleared(), cleared);
    return status;
  };
  const grpc::Status unknown = clear("executor-3", 0);
  EXPECT_EQ(unknown.error_code(), StatusCode::NOT_FOUND);
  EXPECT_THAT(unknown.error_message(), HasSubstr("no convicted request has 'executor-3'"));
  EXPECT_TRUE(clear("executor-1", 1).ok());
  ASSERT_EQ(list().requests_size(), 1);
  EXPECT_EQ(list().requests(0).crash(), "executor-2");
  EXPECT_TRUE(clear("", 1).ok());
  EXPECT_EQ(list().requests_size(), 0);
  EXPECT_TRUE(clear("", 0).ok());
}

}  // namespace
}  // namespace millrace::server
