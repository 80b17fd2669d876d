#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <new>

#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/byte_call.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

TEST(RpcCancelTest, ClientThatCancelsIsToldOnceAndTheCallLastsUntilFinish) {
  struct Held final : HeldCall {
    void OnCancel() override {
      EXPECT_TRUE(rpc_seen->cancelled());
      HeldCall::OnCancel();
    }
    ByteCall* rpc_seen = nullptr;
  } call;
  RpcTestServer server({{"Synthesize", [&, hold = call.Function()](ByteCall& rpc) {
                           call.rpc_seen = &rpc;
                           EXPECT_FALSE(rpc.cancelled());
                           hold(rpc);
                         }}});
  Context context;
  JoiningThread client(
      [&] { EXPECT_EQ(Call(server.channel(), context, "").error_code(), StatusCode::CANCELLED); });
  ByteCall& rpc = call.rpc();
  context.TryCancel();
  Await([&] { return call.cancels.load() != 0; });
  EXPECT_EQ(call.dones.load(), 0);
  rpc.Finish(ByteBuffer("too late"));
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
  EXPECT_EQ(call.dones.load(), 1);
}

TEST(RpcCancelTest, DeadlineThatPassesIsToldOnce) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  AwaitConnected(server.channel());
  JoiningThread client([&] {
    Context context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
    EXPECT_EQ(Call(server.channel(), context, "").error_code(), StatusCode::DEADLINE_EXCEEDED);
  });
  ByteCall& rpc = call.rpc();
  Await([&] { return call.cancels.load() != 0; });
  rpc.Finish(absl::DeadlineExceededError("late"));
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
  EXPECT_EQ(call.dones.load(), 1);
}

TEST(RpcCancelTest, ServersOwnTryCancelIsToldToo) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread client(
      [&] { EXPECT_EQ(Call(server.channel(), "").error_code(), StatusCode::CANCELLED); });
  ByteCall& rpc = call.rpc();
  rpc.TryCancel();
  Await([&] { return call.cancels.load() != 0; });
  rpc.Finish(absl::OkStatus());
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
}

TEST(RpcCancelTest, CallWithoutAHandlerMayBeCancelled) {
  std::promise<ByteCall*> came;
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) { came.set_value(&rpc); }},
                        {"StreamSynthesize", [](ByteCall& rpc) { rpc.Finish(absl::OkStatus()); }}});
  Context context;
  ByteCall* rpc = nullptr;
  {
    JoiningThread client([&] { EXPECT_FALSE(Call(server.channel(), context, "").ok()); });
    rpc = came.get_future().get();
    context.TryCancel();
  }
  // The server has seen the cancel, which was sent before these.
  for (int i = 0; i < 3; ++i) {
    Context other;
    EXPECT_TRUE(StartReplies(server.channel(), other)->Finish().ok());
  }
  rpc->Finish(absl::OkStatus());
}

// A handler that throws, as for want of memory, costs its call alone.
TEST(RpcCancelTest, HandlerThatThrowsHasItsCallCancelled) {
  struct Throwing final : Recorder {
    void OnReadDone(bool ok) override {
      if (ok && reading) throw std::bad_alloc();
      if (ok) rpc->StartWrite(&message);
    }
    void OnWriteDone(bool) override { throw std::bad_alloc(); }
    void OnCancel() override {
      rpc->Finish(absl::InternalError("no memory"));
      Recorder::OnCancel();
      throw std::bad_alloc();
    }
    ByteCall* rpc = nullptr;
    bool reading = false;
    ByteBuffer message;
  } call;
  RpcTestServer server({{"Synthesize", Echo}, {"SynthesizeTextStream", [&](ByteCall& rpc) {
                                                 rpc.SetHandler(call);
                                                 call.rpc = &rpc;
                                                 rpc.StartRead(&call.message);
                                               }}});
  for (const bool reading : {true, false}) {
    call.reading = reading;
    call.cancels = call.dones = 0;
    Context context;
    const ReaderWriter client = StartBothWays(server.channel(), context);
    client->Write(Bytes("x"));
    // gRPC tells of the end of a call only when its messages have been read.
    for (grpc::ByteBuffer reply; client->Read(&reply);) reply.Clear();
    EXPECT_FALSE(client->Finish().ok());
    call.AwaitDone();
    EXPECT_EQ(call.cancels.load(), 1);
    EXPECT_TRUE(Call(server.channel(), "abc").ok());
  }
}

}  // namespace
}  // namespace millrace::server
