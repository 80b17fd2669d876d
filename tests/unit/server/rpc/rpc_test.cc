#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/byte_call.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

TEST(RpcUnaryTest, IsAnsweredFromItsFunction) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (const std::string& text : {std::string(), std::string("abc"), std::string(kLong, 'x')}) {
    std::string reply = "?";
    EXPECT_TRUE(Call(server.channel(), text, &reply).ok());
    EXPECT_EQ(reply, text);
  }
}

TEST(RpcUnaryTest, IsAnsweredFromAnotherThread) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread answers([&] { call.rpc().Finish(ByteBuffer("from afar")); });
  std::string reply;
  EXPECT_TRUE(Call(server.channel(), "", &reply).ok());
  EXPECT_EQ(reply, "from afar");
  call.AwaitDone();
  EXPECT_EQ(call.dones.load(), 1);
  EXPECT_EQ(call.cancels.load(), 0);
}

TEST(RpcUnaryTest, FunctionThatThrowsCostsItsCallAlone) {
  RpcTestServer server({{"Synthesize", [](ByteCall& rpc) {
                           if (rpc.request().size() == 0) throw std::length_error("too long");
                           Echo(rpc);
                         }}});
  const grpc::Status status = Call(server.channel(), "");
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "too long");
  EXPECT_TRUE(Call(server.channel(), "abc").ok());
}

// More than are awaited at once, all at the same time.
TEST(RpcUnaryTest, ManyAtOnceAreAllBegunAndGetTheirOwnAnswer) {
  constexpr int kCalls = 50;
  std::mutex mu;
  std::vector<ByteCall*> held;
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) {
                           std::lock_guard lock(mu);
                           held.push_back(&rpc);
                         }}});
  std::vector<JoiningThread> clients;
  for (int i = 0; i < kCalls; ++i) {
    clients.emplace_back([&, i] {
      std::string reply;
      EXPECT_TRUE(Call(server.channel(), std::to_string(i), &reply).ok());
      EXPECT_EQ(reply, std::to_string(i));
    });
  }
  Await([&] {
    std::lock_guard lock(mu);
    return held.size() == kCalls;
  });
  for (ByteCall* rpc : held) rpc->Finish(rpc->request());
}

TEST(RpcUnaryTest, FunctionSeesMetadataAndDeadline) {
  std::vector<std::string> metadata;
  std::vector<std::chrono::system_clock::time_point> deadlines;
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) {
                           metadata.push_back(std::string(rpc.Metadata("key")));
                           deadlines.push_back(rpc.deadline());
                           rpc.Finish(ByteBuffer(rpc.request()));
                         }}});
  ASSERT_TRUE(Call(server.channel(), "").ok());
  Context context;
  context.AddMetadata("key", "value");
  const auto deadline = std::chrono::system_clock::now() + std::chrono::hours(1);
  context.set_deadline(deadline);
  ASSERT_TRUE(Call(server.channel(), context, "").ok());
  EXPECT_EQ(metadata, (std::vector<std::string>{"", "value"}));
  ASSERT_EQ(deadlines.size(), 2U);
  EXPECT_EQ(deadlines[0], std::chrono::system_clock::time_point::max());
  EXPECT_GT(deadlines[1], deadline - std::chrono::minutes(1));
  EXPECT_LT(deadlines[1], deadline + std::chrono::minutes(1));
}

TEST(RpcUnaryTest, ErrorArrivesWithItsTrailers) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread answers([&] {
    ByteCall& rpc = call.rpc();
    rpc.AddTrailingMetadata("hint", "42");
    rpc.Finish(absl::ResourceExhaustedError("later"));
  });
  Context context;
  const grpc::Status status = Call(server.channel(), context, "");
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(status.error_message(), "later");
  const auto hint = context.GetServerTrailingMetadata().find("hint");
  ASSERT_NE(hint, context.GetServerTrailingMetadata().end());
  EXPECT_EQ(hint->second, "42");
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 0);
}

// More of them than calls are awaited at once: none of those is lost to them.
TEST(RpcUnaryTest, CallWithoutAMessageFailsAndTheServerGoesOn) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (int i = 0; i < 20; ++i) {
    Context context;
    const ReaderWriter call = StartBothWays(server.channel(), context, kUnary);
    call->WritesDone();
    EXPECT_FALSE(call->Finish().ok());
  }
  EXPECT_TRUE(Call(server.channel(), "").ok());
}

TEST(RpcServiceTest, WhatIsNotServedIsUnimplemented) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (int i = 0; i < 20; ++i) {
    for (const char* path : {kReplies, kBothWays, "/millrace.v1.SynthesisService/No", "/No/No"}) {
      EXPECT_EQ(Call(server.channel(), "", nullptr, path).error_code(), StatusCode::UNIMPLEMENTED);
    }
  }
  EXPECT_TRUE(Call(server.channel(), "").ok());
}

TEST(RpcUnaryTest, OnlyTheFirstFinishCounts) {
  RpcTestServer server({{"Synthesize", [](ByteCall& rpc) {
                           rpc.Finish(ByteBuffer("first"));
                           rpc.Finish(absl::InternalError("second"));
                           rpc.Finish(ByteBuffer("third"));
                         }}});
  std::string reply;
  EXPECT_TRUE(Call(server.channel(), "", &reply).ok());
  EXPECT_EQ(reply, "first");
}

}  // namespace
}  // namespace millrace::server
