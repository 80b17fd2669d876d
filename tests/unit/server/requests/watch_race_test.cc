// Calls that do no model's work: health that is watched, questions about services. No gRPC in this
// process: TSan sees every access.

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <string>
#include <vector>

#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "millrace/v1/translation.pb.h"
#include "mps_runtime/base/joining_thread.h"
#include "server/frontends/grpc/health_service.h"
#include "server/frontends/grpc/reflection_service.h"
#include "server/frontends/millrace/translation_service.h"
#include "tests/fakes/at_once.h"
#include "tests/fakes/fake_call.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1::ServerReflectionRequest;
using testing::FakeCall;

constexpr int kRounds = 20;
constexpr char kService[] = "millrace.v1.TranslationService";

std::string WatchOf(const std::string& name) {
  HealthCheckRequest request;
  request.set_service(name);
  return request.SerializeAsString();
}

HealthCheckResponse::ServingStatus StatusIn(const std::string& message) {
  HealthCheckResponse response;
  EXPECT_TRUE(response.ParseFromString(message));
  return response.status();
}

class HealthWatchTest : public ::testing::Test {
 protected:
  HealthService health_{{kService}};
};

TEST_F(HealthWatchTest, EndsWithWhatItsClientSawLast) {
  FakeCall call(WatchOf(kService));
  call.Begin(health_, "Watch");
  EXPECT_EQ(StatusIn(*call.ReadOne()), HealthCheckResponse::NOT_SERVING);
  health_.SetServing(true);
  EXPECT_EQ(StatusIn(*call.ReadOne()), HealthCheckResponse::SERVING);
  health_.EndWatches();
  EXPECT_TRUE(absl::IsUnavailable(call.RunToEnd()));
}

TEST_F(HealthWatchTest, ASlowClientMissesWhatDidNotLast) {
  FakeCall call(WatchOf(kService));
  call.StopReading();
  call.Begin(health_, "Watch");
  for (int i = 0; i < 5; ++i) health_.SetServing(i % 2 == 0);
  call.ReadOn();
  EXPECT_EQ(StatusIn(*call.ReadOne()), HealthCheckResponse::NOT_SERVING);
  EXPECT_EQ(StatusIn(*call.ReadOne()), HealthCheckResponse::SERVING);
  call.Leave();
  EXPECT_TRUE(absl::IsCancelled(call.RunToEnd()));
  EXPECT_EQ(call.written().size(), 2U);
}

TEST_F(HealthWatchTest, AfterTheEndOfWatchesNoneBegins) {
  health_.EndWatches();
  FakeCall call(WatchOf(""));
  call.Begin(health_, "Watch");
  EXPECT_TRUE(absl::IsUnavailable(call.RunToEnd()));
}

TEST_F(HealthWatchTest, ChangesWhileItsMessagesAreWritten) {
  constexpr int kChanges = 200;
  std::barrier start(3);
  JoiningThread serves([&] {
    start.arrive_and_wait();
    for (int i = 0; i <= kChanges; ++i) health_.SetServing(i % 2 == 0);
  });
  JoiningThread loads([&] {
    start.arrive_and_wait();
    for (int i = 0; i < kChanges; ++i) health_.SetModel("m", i % 2 == 0);
    health_.SetModel("m", true);
  });
  FakeCall call(WatchOf("m"));
  start.arrive_and_wait();
  call.Begin(health_, "Watch");
  std::atomic<bool> ended{false};
  JoiningThread ends([&] {
    serves.join();
    loads.join();
    ended = true;
    health_.EndWatches();
  });
  HealthCheckResponse::ServingStatus last = HealthCheckResponse::UNKNOWN;
  while (const auto message = call.ReadOne()) {
    EXPECT_NE(StatusIn(*message), last) << "the client had that status already";
    last = StatusIn(*message);
  }
  EXPECT_TRUE(ended);
}

TEST_F(HealthWatchTest, ItsClientLeavesAsTheStateChanges) {
  std::barrier start(3);
  JoiningThread changes([&] {
    for (int i = 0; i < kRounds; ++i) {
      start.arrive_and_wait();
      health_.SetServing(i % 2 == 0);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    FakeCall call(WatchOf(kService));
    JoiningThread leaves([&] {
      start.arrive_and_wait();
      call.Leave();
    });
    call.Begin(health_, "Watch");
    start.arrive_and_wait();
    EXPECT_TRUE(absl::IsCancelled(call.RunToEnd()));
  }
}

TEST_F(HealthWatchTest, WatchesEndAsTheirClientsLeave) {
  for (int i = 0; i < kRounds; ++i) {
    HealthService health({kService});
    FakeCall call(WatchOf(kService));
    call.Begin(health, "Watch");
    testing::AllAtOnce([&] { health.EndWatches(); }, [&] { call.Leave(); },
                       [&] { EXPECT_FALSE(call.RunToEnd().ok()); });
  }
}

TEST_F(HealthWatchTest, WatchesEndAsOthersBegin) {
  for (int i = 0; i < kRounds; ++i) {
    HealthService health({kService});
    std::barrier start(2);
    JoiningThread ends([&] {
      start.arrive_and_wait();
      health.EndWatches();
    });
    FakeCall call(WatchOf(kService));
    start.arrive_and_wait();
    call.Begin(health, "Watch");
    EXPECT_TRUE(absl::IsUnavailable(call.RunToEnd()));
  }
}

class ReflectionTest : public ::testing::Test {
 protected:
  static std::string ListQuestion() {
    ServerReflectionRequest request;
    request.set_list_services("");
    return request.SerializeAsString();
  }

  ReflectionService reflection_{ReflectionService::Version::kV1, {kService}};
};

TEST_F(ReflectionTest, AnswersOneQuestionAfterAnother) {
  FakeCall call;
  for (int i = 0; i < 5; ++i) call.Send(ListQuestion());
  call.EndMessages();
  call.Begin(reflection_, "ServerReflectionInfo");
  EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
  EXPECT_EQ(call.written().size(), 5U);
}

TEST_F(ReflectionTest, ItsClientLeavesAsItAsks) {
  for (int i = 0; i < kRounds; ++i) {
    FakeCall call;
    call.Begin(reflection_, "ServerReflectionInfo");
    testing::AllAtOnce([&] { call.Send(ListQuestion()); }, [&] { call.Leave(); },
                       [&] { call.RunToEnd().IgnoreError(); });
    EXPECT_LE(call.written().size(), 1U);
  }
}

// The list is made once and shared: its bytes go out on many threads.
TEST(LanguagesTest, AreListedForManyAtOnceAsModelsChange) {
  TestBackend backend;
  TranslationService translation(backend.services());
  backend.Add(TranslatorInfo("m", "en", "de"), {});
  constexpr int kClients = 4;
  std::barrier start(kClients + 1);
  std::vector<JoiningThread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&] {
      start.arrive_and_wait();
      for (int i = 0; i < kRounds; ++i) {
        FakeCall call("");
        call.Begin(translation, "ListLanguages");
        EXPECT_EQ(call.RunToEnd(), absl::OkStatus());
        v1::ListLanguagesResponse response;
        EXPECT_TRUE(response.ParseFromString(call.reply()));
        EXPECT_GE(response.ByteSizeLong(), 1U);
      }
    });
  }
  start.arrive_and_wait();
  for (int i = 0; i < kRounds; ++i)
    backend.Add(TranslatorInfo("other", i % 2 == 0 ? "pt" : "fr", "en"), {});
}

}  // namespace
}  // namespace millrace::server
