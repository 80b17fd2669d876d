#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>

#include "models/core/strings.h"
#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/byte_call.h"
#include "server/rpc/call_refusals.h"
#include "tests/fakes/metrics_page.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using std::chrono::milliseconds;

absl::Status Refusal() { return absl::ResourceExhaustedError("too many"); }

// A server that refuses every call. The first one is over; the answers to all others are held back.
class RpcRefusalTest : public ::testing::Test {
 protected:
  RpcRefusalTest() {
    EXPECT_EQ(Call(server_.channel(), "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
    AwaitDone(1);
  }
  void AwaitBegun(int calls) {
    Await([this, calls] { return begun_.load() == calls; });
  }
  void AwaitDone(int calls) {
    Await([this, calls] { return recorder_.dones.load() == calls; });
  }

  Recorder recorder_;
  std::atomic<int> begun_{0};
  RpcTestServer server_{{{"Synthesize",
                          [this](ByteCall& rpc) {
                            rpc.SetHandler(recorder_);
                            rpc.Finish(Refusal());
                            ++begun_;
                          }}},
                        {.refusals_per_second = 0.001}};
};

TEST_F(RpcRefusalTest, AnswerThatIsHeldBackArrivesBeforeTheDeadline) {
  for (int i = 0; i < 2; ++i) {
    Context context;
    context.set_deadline(std::chrono::system_clock::now() + milliseconds(2000));
    EXPECT_EQ(Call(server_.channel(), context, "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
  }
}

TEST_F(RpcRefusalTest, ClientThatLeavesIsForgottenBeforeTheAnswerIsDue) {
  const auto start = std::chrono::system_clock::now();
  Context context;
  JoiningThread client([&] {
    EXPECT_EQ(Call(server_.channel(), context, "x").error_code(), StatusCode::CANCELLED);
  });
  AwaitBegun(2);
  context.TryCancel();
  client.join();
  AwaitDone(2);
  EXPECT_EQ(recorder_.cancels.load(), 1);
  EXPECT_LT(std::chrono::system_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(RpcRefusalTest, ShutdownEndsACallWhoseAnswerIsHeldBack) {
  JoiningThread client([&] { EXPECT_FALSE(Call(server_.channel(), "x").ok()); });
  AwaitBegun(2);
  server_.server().Shutdown(std::chrono::system_clock::now());
  EXPECT_EQ(recorder_.dones.load(), 2);
}

TEST_F(RpcRefusalTest, ShutdownHoldsBackNoAnswer) {
  JoiningThread client([&] {
    EXPECT_EQ(Call(server_.channel(), "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
  });
  AwaitBegun(2);
  const auto start = std::chrono::system_clock::now();
  server_.server().Shutdown(start + std::chrono::hours(1));
  EXPECT_EQ(recorder_.dones.load(), 2);
  EXPECT_LT(std::chrono::system_clock::now() - start, std::chrono::seconds(5));
}

TEST(RpcRefusalLoopTest, RefusalsOfOneCallerHoldBackNoneOfAnothers) {
  RpcTestServer server({{"Synthesize",
                         [](ByteCall& rpc) {
                           rpc.SetCaller(rpc.Metadata("caller"));
                           rpc.Finish(Refusal());
                         }}},
                       {.refusals_per_second = 0.001});
  const auto refuse = [&server](const std::string& caller, milliseconds patience) {
    const auto start = std::chrono::steady_clock::now();
    Context context;
    context.AddMetadata("caller", caller);
    context.set_deadline(std::chrono::system_clock::now() + patience);
    EXPECT_EQ(Call(server.channel(), context, "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
    return std::chrono::steady_clock::now() - start;
  };
  refuse("flood", std::chrono::seconds(20));
  EXPECT_GE(refuse("flood", milliseconds(2000)), milliseconds(900));
  EXPECT_LT(refuse("other", std::chrono::seconds(20)), std::chrono::seconds(5));
}

TEST(RpcRefusalLoopTest, RefusalsOfOneAddressHoldBackNoneOfAnothers) {
  const std::string socket = ::testing::TempDir() + "rpc_refusal_" + std::to_string(getpid());
  RpcTestServer server({{"Synthesize", [](ByteCall& rpc) { rpc.Finish(Refusal()); }}},
                       {.refusals_per_second = 0.001}, socket);
  const auto refuse = [](grpc::Channel& channel, milliseconds patience) {
    const auto start = std::chrono::steady_clock::now();
    Context context;
    context.set_deadline(std::chrono::system_clock::now() + patience);
    EXPECT_EQ(Call(channel, context, "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
    return std::chrono::steady_clock::now() - start;
  };
  refuse(server.channel(), std::chrono::seconds(20));
  EXPECT_GE(refuse(*server.NewChannel(), milliseconds(2000)), milliseconds(900))
      << "another connection of the same address";
  EXPECT_LT(refuse(*server.NewChannel("unix:" + socket), std::chrono::seconds(20)),
            std::chrono::seconds(5));
}

TEST(RpcRefusalLoopTest, LoopThatCallsAgainAtOnceIsSlowedDown) {
  RpcTestServer server({{"Synthesize", [](ByteCall& rpc) { rpc.Finish(Refusal()); }}},
                       {.refusals_per_second = 50});
  const auto start = std::chrono::steady_clock::now();
  constexpr int kCalls = 40;  // the first 25 are answered at once, the others at the rate
  for (int i = 0; i < kCalls; ++i)
    EXPECT_EQ(Call(server.channel(), "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_GE(std::chrono::steady_clock::now() - start, milliseconds(250));
}

TEST(RpcRefusalLoopTest, OtherAnswersAreNeverHeldBack) {
  std::atomic<bool> refuses{true};
  RpcTestServer server({{"Synthesize",
                         [&](ByteCall& rpc) {
                           if (refuses.load()) return rpc.Finish(Refusal());
                           rpc.Finish(rpc.request());
                         }}},
                       {.refusals_per_second = 0.001});
  JoiningThread refused([&, channel = server.NewChannel()] {
    EXPECT_EQ(Call(*channel, "x").error_code(), StatusCode::RESOURCE_EXHAUSTED);
  });
  refused.join();
  refuses = false;
  const auto start = std::chrono::steady_clock::now();
  RoundTrips(server.channel(), 20);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 20 * milliseconds(500));
}

TEST(RpcRefusalCountTest, CallsThatReachNoServiceOrHaveNoRightAreTold) {
  CallRefusals refusals;
  std::string named;
  RpcTestServer server(
      {{"Synthesize",
        [](ByteCall& rpc) {
          rpc.Finish(rpc.request().size() == 1 ? absl::UnauthenticatedError("a key is needed")
                                               : absl::NotFoundError("the service says so"));
        }}},
      {.check_message =
           [](const ByteBuffer& message) {
             return message.size() > 10 ? absl::ResourceExhaustedError("too large")
                                        : absl::OkStatus();
           },
       .on_refused =
           [&](absl::StatusCode code, std::string_view method, std::string_view client) {
             refusals.Add(code, method, client);
             named = StrCat(named, method, " ", client.substr(0, client.find(':')), "\n");
           }});
  EXPECT_EQ(Call(server.channel(), "x", nullptr, "/none/Such").error_code(),
            StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(Call(server.channel(), "more than ten").error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(Call(server.channel(), "x").error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Call(server.channel(), "some").error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(named, StrCat("/none/Such ipv4\n", kUnary, " ipv4\n", kUnary, " ipv4\n"));
  EXPECT_EQ(testing::MetricsPageOf(refusals),
            "millrace_grpc_refused_total{code=\"UNAUTHENTICATED\"} 1\n"
            "millrace_grpc_refused_total{code=\"PERMISSION_DENIED\"} 0\n"
            "millrace_grpc_refused_total{code=\"UNIMPLEMENTED\"} 1\n"
            "millrace_grpc_refused_total{code=\"RESOURCE_EXHAUSTED\"} 1\n");
}

}  // namespace
}  // namespace millrace::server
