#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <string>

#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/byte_call.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

// Blocks in the function of a long message until it is told to go on.
class Blocking final : public Recorder {
 public:
  // early: whether it is a handler before it blocks.
  RpcService::Function Function(bool early) {
    return [this, early](ByteCall& rpc) {
      if (rpc.request().size() < kLong) return Echo(rpc);
      rpc_ = &rpc;
      if (early) rpc.SetHandler(*this);
      inside_.count_down();
      open_.wait();
      rpc.SetHandler(*this);
      EXPECT_EQ(cancels.load(), 0) << "told while its function still ran";
    };
  }
  void OnCancel() override {
    Recorder::OnCancel();
    rpc_->Finish(absl::CancelledError());
  }
  void AwaitInside() { inside_.wait(); }
  void Open() { open_.count_down(); }

 private:
  std::latch inside_{1};
  std::latch open_{1};
  ByteCall* rpc_ = nullptr;
};

TEST(RpcLongMessageTest, SmallCallsAreAnsweredWhileItsFunctionBlocks) {
  std::latch inside(1);
  std::latch open(1);
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) {
                           if (rpc.request().size() >= kLong) {
                             inside.count_down();
                             open.wait();
                           }
                           Echo(rpc);
                         }}});
  JoiningThread client([&] {
    std::string reply;
    EXPECT_TRUE(Call(server.channel(), std::string(kLong, 'x'), &reply).ok());
    EXPECT_EQ(reply, std::string(kLong, 'x'));
  });
  inside.wait();
  RoundTrips(server.channel(), 20);
  open.count_down();
}

// Each method says what is long for it; one that is always slow says so.
TEST(RpcLongMessageTest, SlowMethodsHoldUpOnlyOneAnother) {
  class SlowService final : public RpcService {
   public:
    explicit SlowService(std::latch& inside, std::latch& open)
        : RpcService(v1::SynthesizeRequest::descriptor()->file()->service(0)->full_name()) {
      Serve("Synthesize", Echo, 10);
      ServeSlowly("StreamSynthesize", [&](ByteCall& rpc) {
        inside.count_down();
        open.wait();
        rpc.Finish(absl::OkStatus());
      });
    }
  };
  std::latch inside(1);
  std::latch open(1);
  SlowService service(inside, open);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  const auto server = RpcServer::Start(builder, {&service});
  const auto channel =
      grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials());
  Context slow;
  const Reader reader = StartReplies(*channel, slow);
  inside.wait();
  RoundTrips(*channel, 5);
  std::atomic<bool> answered{false};
  JoiningThread longer([&] {
    EXPECT_TRUE(Call(*channel, "eleven bytes").ok());
    answered = true;
  });
  RoundTrips(*channel, 5);
  EXPECT_FALSE(answered.load());
  open.count_down();
  EXPECT_TRUE(reader->Finish().ok());
}

class RpcLongMessageCancelTest : public ::testing::TestWithParam<bool> {};

TEST_P(RpcLongMessageCancelTest, CancelIsToldOnceItsFunctionHasReturned) {
  Blocking call;
  RpcTestServer server({{"Synthesize", call.Function(GetParam())}});
  Context context;
  JoiningThread client([&] {
    EXPECT_EQ(Call(server.channel(), context, std::string(kLong, 'x')).error_code(),
              StatusCode::CANCELLED);
  });
  call.AwaitInside();
  context.TryCancel();
  RoundTrips(server.channel(), 50);  // the server knows of it
  call.Open();
  call.AwaitDone();
  EXPECT_EQ(call.cancels.load(), 1);
  EXPECT_EQ(call.dones.load(), 1);
}

INSTANTIATE_TEST_SUITE_P(HandlerIsSet, RpcLongMessageCancelTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Early" : "Late"; });

}  // namespace
}  // namespace millrace::server
