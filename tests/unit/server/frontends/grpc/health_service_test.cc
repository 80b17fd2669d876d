#include "server/frontends/grpc/health_service.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "grpc/health/v1/health.grpc.pb.h"
#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/rpc_server.h"
#include "tests/unit/server/frontends/test_server.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::health::v1::HealthListRequest;
using grpc::health::v1::HealthListResponse;
using State = HealthCheckResponse::ServingStatus;

constexpr State kServing = HealthCheckResponse::SERVING;
constexpr State kNotServing = HealthCheckResponse::NOT_SERVING;

class HealthServiceTest : public ::testing::Test {
 protected:
  HealthServiceTest() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    // A write waits for the client even when it is small.
    builder.AddChannelArgument(GRPC_ARG_HTTP2_WRITE_BUFFER_SIZE, 0);
    server_ = RpcServer::Start(builder, {&health_});
    address_ = "127.0.0.1:" + std::to_string(port);
    stub_ = NewStub({});
  }

  // On a connection of its own.
  std::unique_ptr<Health::Stub> NewStub(grpc::ChannelArguments arguments) const {
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return Health::NewStub(
        grpc::CreateCustomChannel(address_, grpc::InsecureChannelCredentials(), arguments));
  }
  grpc::Status Check(const std::string& service, State* state = nullptr) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    HealthCheckRequest request;
    request.set_service(service);
    HealthCheckResponse response;
    const grpc::Status status = stub_->Check(&context, request, &response);
    if (state != nullptr) *state = response.status();
    return status;
  }
  State StateOf(const std::string& service) {
    State state = HealthCheckResponse::UNKNOWN;
    EXPECT_TRUE(Check(service, &state).ok());
    return state;
  }

  HealthService health_{{"a.First", "a.Second"}};
  std::string address_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<Health::Stub> stub_;
};

// A client that watches.
class Watcher {
 public:
  explicit Watcher(Health::Stub& stub, const std::string& service = "") {
    context.set_wait_for_ready(true);
    HealthCheckRequest request;
    request.set_service(service);
    reader_ = stub.Watch(&context, request);
  }
  ~Watcher() {
    if (reader_ == nullptr) return;
    context.TryCancel();
    Finish();
  }
  // UNKNOWN at the end.
  State Read() {
    HealthCheckResponse response;
    return reader_->Read(&response) ? response.status() : HealthCheckResponse::UNKNOWN;
  }
  grpc::Status Finish() { return std::exchange(reader_, nullptr)->Finish(); }

  grpc::ClientContext context;

 private:
  std::unique_ptr<grpc::ClientReader<HealthCheckResponse>> reader_;
};

TEST_F(HealthServiceTest, CheckTellsOfTheServerAndOfEachService) {
  for (const std::string service : {"", "a.First", "a.Second"}) {
    health_.SetServing(false);
    EXPECT_EQ(StateOf(service), kNotServing);
    health_.SetServing(true);
    EXPECT_EQ(StateOf(service), kServing);
  }
}

TEST_F(HealthServiceTest, CheckBeforeAnyoneSaysSoIsNotServing) {
  EXPECT_EQ(StateOf(""), kNotServing);
}

TEST_F(HealthServiceTest, CheckOfAnUnknownServiceIsNotFound) {
  health_.SetServing(true);
  const grpc::Status status = Check("a.Third");
  EXPECT_EQ(status.error_code(), StatusCode::NOT_FOUND);
  EXPECT_NE(status.error_message().find("a.Third"), std::string::npos);
}

TEST_F(HealthServiceTest, CheckTellsOfEachModelByItsName) {
  health_.SetServing(true);
  EXPECT_EQ(Check("voice").error_code(), StatusCode::NOT_FOUND);
  health_.SetModel("voice", false);
  health_.SetModel("other", true);
  EXPECT_EQ(StateOf("voice"), kNotServing);
  EXPECT_EQ(StateOf("other"), kServing);
  health_.SetModel("voice", true);
  EXPECT_EQ(StateOf("voice"), kServing);
  health_.SetServing(false);
  EXPECT_EQ(StateOf("voice"), kNotServing);
  health_.SetServing(true);
  EXPECT_EQ(StateOf("voice"), kServing);
  health_.SetModel("voice", std::nullopt);
  EXPECT_EQ(Check("voice").error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(StateOf(""), kServing);
}

TEST_F(HealthServiceTest, ListTellsOfTheServerItsServicesAndItsModels) {
  health_.SetServing(true);
  health_.SetModel("voice", false);
  health_.SetModel("other", true);
  grpc::ClientContext context;
  context.set_wait_for_ready(true);
  HealthListResponse response;
  ASSERT_TRUE(stub_->List(&context, HealthListRequest(), &response).ok());
  std::map<std::string, State> states;
  for (const auto& [name, status] : response.statuses()) states[name] = status.status();
  EXPECT_EQ(states, (std::map<std::string, State>{{"", kServing},
                                                  {"a.First", kServing},
                                                  {"a.Second", kServing},
                                                  {"other", kServing},
                                                  {"voice", kNotServing}}));
}

TEST_F(HealthServiceTest, AServiceGoesBeforeAModelOfItsName) {
  health_.SetServing(true);
  health_.SetModel("a.First", false);
  EXPECT_EQ(StateOf("a.First"), kServing);
}

TEST_F(HealthServiceTest, ANameThatIsTooLongIsRefused) {
  const std::string name(257, 'x');
  EXPECT_EQ(Check(name).error_code(), StatusCode::INVALID_ARGUMENT);
  Watcher watcher(*stub_, name);
  EXPECT_EQ(watcher.Read(), HealthCheckResponse::UNKNOWN);
  EXPECT_EQ(watcher.Finish().error_code(), StatusCode::INVALID_ARGUMENT);
}

TEST_F(HealthServiceTest, WatchOfAModelTellsOfItsLoadsAndOfTheServer) {
  health_.SetServing(true);
  Watcher watcher(*stub_, "voice");
  EXPECT_EQ(watcher.Read(), HealthCheckResponse::SERVICE_UNKNOWN);
  health_.SetModel("other", true);
  health_.SetModel("voice", false);
  EXPECT_EQ(watcher.Read(), kNotServing);
  health_.SetModel("voice", true);
  EXPECT_EQ(watcher.Read(), kServing);
  health_.SetServing(false);
  EXPECT_EQ(watcher.Read(), kNotServing);
  health_.SetServing(true);
  EXPECT_EQ(watcher.Read(), kServing);
  health_.SetModel("voice", std::nullopt);
  EXPECT_EQ(watcher.Read(), HealthCheckResponse::SERVICE_UNKNOWN);
}

TEST_F(HealthServiceTest, WatchTellsAtOnceAndAtEachChange) {
  health_.SetServing(true);
  Watcher server(*stub_);
  Watcher service(*stub_, "a.Second");
  for (Watcher* watcher : {&server, &service}) EXPECT_EQ(watcher->Read(), kServing);
  for (int i = 0; i < 3; ++i) {
    health_.SetServing(false);
    for (Watcher* watcher : {&server, &service}) EXPECT_EQ(watcher->Read(), kNotServing);
    health_.SetServing(true);
    health_.SetServing(true);  // no change
    for (Watcher* watcher : {&server, &service}) EXPECT_EQ(watcher->Read(), kServing);
  }
}

TEST_F(HealthServiceTest, WatchOfAnUnknownServiceStaysOpenAndIsToldOfNoChange) {
  Watcher watcher(*stub_, "a.Third");
  EXPECT_EQ(watcher.Read(), HealthCheckResponse::SERVICE_UNKNOWN);
  health_.SetServing(true);
  health_.SetServing(false);
  health_.EndWatches();
  EXPECT_EQ(watcher.Read(), HealthCheckResponse::UNKNOWN);
  EXPECT_EQ(watcher.Finish().error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(HealthServiceTest, EndWatchesEndsThemAndThoseThatComeAfter) {
  health_.SetServing(true);
  Watcher before(*stub_);
  EXPECT_EQ(before.Read(), kServing);
  health_.EndWatches();
  EXPECT_EQ(before.Read(), HealthCheckResponse::UNKNOWN);
  EXPECT_EQ(before.Finish().error_code(), StatusCode::UNAVAILABLE);
  // As clients do that lost theirs: it would hold up the server until its deadline.
  Watcher after(*stub_);
  EXPECT_EQ(after.Read(), HealthCheckResponse::UNKNOWN);
  EXPECT_EQ(after.Finish().error_code(), StatusCode::UNAVAILABLE);
  server_->Shutdown(std::chrono::system_clock::time_point::max());
}

TEST_F(HealthServiceTest, WatcherThatLeavesIsForgotten) {
  {
    Watcher watcher(*stub_);
    EXPECT_EQ(watcher.Read(), kNotServing);
  }
  health_.SetServing(true);
  EXPECT_EQ(StateOf(""), kServing);
  // Returns once the watch has ended, without EndWatches.
  server_->Shutdown(std::chrono::system_clock::time_point::max());
}

class SlowWatcherTest : public HealthServiceTest, public ::testing::WithParamInterface<bool> {};

// The client's window is smaller than a message.
TEST_P(SlowWatcherTest, MissesWhatDidNotLastButGetsTheLastState) {
  constexpr int kChanges = 100;
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, 5);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  const auto stub = NewStub(arguments);
  Watcher watcher(*stub);
  EXPECT_EQ(watcher.Read(), kNotServing);
  for (int i = 0; i < kChanges; ++i) {
    health_.SetServing(i % 2 == 0);
    StateOf("");  // gives the server the time to write
  }
  health_.SetServing(GetParam());
  int messages = 0;
  State last = kNotServing;
  // The states that were written before the client's window was full alternate.
  do {
    const State state = watcher.Read();
    ASSERT_NE(state, last);
    last = state;
    ++messages;
  } while (last != (GetParam() ? kServing : kNotServing));
  EXPECT_LT(messages, kChanges / 2);
}

INSTANTIATE_TEST_SUITE_P(LastState, SlowWatcherTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Serving" : "NotServing"; });

// Watches come, read and leave while the state changes and at last all are ended: none is lost.
TEST_F(HealthServiceTest, ChangesRaceWithWatchesThatComeAndGo) {
  constexpr int kClients = 6;
  constexpr int kWatches = 40;
  std::atomic<bool> over{false};
  std::barrier start(kClients + 2);
  JoiningThread changes([&] {
    start.arrive_and_wait();
    for (int i = 0; !over.load(); ++i) health_.SetServing(i % 2 == 0);
  });
  std::vector<JoiningThread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      const auto stub = NewStub({});
      start.arrive_and_wait();
      for (int i = 0; i < kWatches; ++i) {
        Watcher watcher(*stub, i % 3 == 0 ? "a.First" : "");
        State last = HealthCheckResponse::UNKNOWN;
        for (int read = 0; read < (c + i) % 4; ++read) {
          const State state = watcher.Read();
          if (state == HealthCheckResponse::UNKNOWN) break;
          EXPECT_NE(state, last);
          last = state;
        }
      }
      Watcher stays(*stub);
      while (stays.Read() != HealthCheckResponse::UNKNOWN) continue;
      EXPECT_EQ(stays.Finish().error_code(), StatusCode::UNAVAILABLE);
    });
  }
  start.arrive_and_wait();
  for (int i = 0; i < 200; ++i) StateOf("a.Second");
  health_.EndWatches();
  clients.clear();
  over = true;
}

}  // namespace
}  // namespace millrace::server
