#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "server/rpc/rpc.h"
#include "tests/fakes/joining_thread.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using testing::JoiningThread;

TEST(RpcCancel, ClientThatCancelsIsToldOnceAndTheCallLastsUntilFinish) {
  struct Held final : HeldCall {
    void OnCancel() override {
      EXPECT_TRUE(rpc_seen->cancelled());
      HeldCall::OnCancel();
    }
    Rpc* rpc_seen = nullptr;
  } call;
  RpcTestServer server({{"Synthesize", [&, hold = call.Function()](Rpc& rpc) {
                           call.rpc_seen = &rpc;
                           EXPECT_FALSE(rpc.cancelled());
                           hold(rpc);
                         }}});
  Context context;
  JoiningThread client(
      [&] { EXPECT_EQ(Call(server.channel(), context, "").error_code(), StatusCode::CANCELLED); });
  Rpc& rpc = call.rpc();
  context.TryCancel();
  Await([&] { return call.cancels.load() != 0; });
  EXPECT_EQ(call.dones.load(), 0);
  rpc.Finish(Bytes("too late"));
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
  EXPECT_EQ(call.dones.load(), 1);
}

TEST(RpcCancel, DeadlineThatPassesIsToldOnce) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread client([&] {
    Context context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(1));
    EXPECT_EQ(Call(server.channel(), context, "").error_code(), StatusCode::DEADLINE_EXCEEDED);
  });
  Rpc& rpc = call.rpc();
  Await([&] { return call.cancels.load() != 0; });
  rpc.Finish(grpc::Status(StatusCode::DEADLINE_EXCEEDED, "late"));
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
  EXPECT_EQ(call.dones.load(), 1);
}

TEST(RpcCancel, ServersOwnTryCancelIsToldToo) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread client(
      [&] { EXPECT_EQ(Call(server.channel(), "").error_code(), StatusCode::CANCELLED); });
  Rpc& rpc = call.rpc();
  rpc.TryCancel();
  Await([&] { return call.cancels.load() != 0; });
  rpc.Finish(grpc::Status::OK);
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
}

TEST(RpcCancel, CallWithoutAHandlerMayBeCancelled) {
  std::promise<Rpc*> came;
  RpcTestServer server({{"Synthesize", [&](Rpc& rpc) { came.set_value(&rpc); }},
                        {"StreamSynthesize", [](Rpc& rpc) { rpc.Finish(grpc::Status::OK); }}});
  Context context;
  Rpc* rpc = nullptr;
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
  rpc->Finish(grpc::Status::OK);
}

}  // namespace
}  // namespace millrace::server
