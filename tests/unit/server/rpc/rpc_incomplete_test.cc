#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using ::testing::HasSubstr;

constexpr int kMaxIncomplete = 3;

// A call whose headers are sent, and nothing else unless the test says so.
struct IncompleteCall {
  IncompleteCall(grpc::Channel& channel, const char* path)
      : stream(StartBothWays(channel, context, path)) {}

  grpc::Status End() {
    grpc::ByteBuffer reply;
    while (stream->Read(&reply)) last = Text(reply);
    return stream->Finish();
  }

  Context context;
  ReaderWriter stream;
  std::string last;
};

// Answers the first message of a stream, whenever it is asked for.
class EchoFirst final : public Recorder {
 public:
  RpcService::Function Function() {
    return [this](ByteCall& rpc) {
      ++begun;
      rpc_ = &rpc;
      rpc.SetHandler(*this);
      rpc.StartRead(&message_);
    };
  }
  std::atomic<int> begun{0};

 private:
  void OnReadDone(bool ok) override {
    if (!ok) return rpc_->Finish(absl::OutOfRangeError("no message"));
    rpc_->StartWrite(&message_);
  }
  void OnWriteDone(bool) override { rpc_->Finish(absl::OkStatus()); }

  ByteCall* rpc_ = nullptr;
  ByteBuffer message_;
};

class RpcIncompleteTest : public ::testing::Test {
 protected:
  std::unique_ptr<IncompleteCall> Start(const char* path = kUnary) {
    auto call = std::make_unique<IncompleteCall>(server_.channel(), path);
    // By the answer to a later call of the connection, the headers have come.
    RoundTrips(server_.channel(), 1);
    return call;
  }

  EchoFirst echo_first_;
  std::atomic<int> refused_{0};
  RpcTestServer server_{{{"Synthesize", Echo}, {"SynthesizeTextStream", echo_first_.Function()}},
                        {.max_incomplete_calls = kMaxIncomplete,
                         .on_incomplete_call_refused = [this] { ++refused_; }}};
};

TEST_F(RpcIncompleteTest, AsManyAsMayWaitAreServedOnceTheyAreComplete) {
  std::vector<std::unique_ptr<IncompleteCall>> calls;
  for (int i = 0; i < kMaxIncomplete - 1; ++i) calls.push_back(Start());
  for (int i = 0; i < 10; ++i) RoundTrips(server_.channel(), 1);
  for (const auto& call : calls) {
    call->stream->Write(Bytes("the rest"));
    call->stream->WritesDone();
    EXPECT_TRUE(call->End().ok());
    EXPECT_EQ(call->last, "the rest");
  }
  EXPECT_EQ(refused_.load(), 0);
}

TEST_F(RpcIncompleteTest, OneMoreRefusesTheOldest) {
  std::vector<std::unique_ptr<IncompleteCall>> calls;
  for (int i = 0; i < kMaxIncomplete; ++i) {
    EXPECT_EQ(refused_.load(), 0);
    calls.push_back(Start(i % 2 == 0 ? kUnary : kBothWays));
  }
  // The complete ones among them are incomplete for a moment, too.
  EXPECT_EQ(refused_.load(), 1);
  const grpc::Status status = calls[0]->End();
  EXPECT_EQ(status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_THAT(status.error_message(), HasSubstr("request has not arrived"));
  for (int i = 1; i < kMaxIncomplete; ++i) {
    calls[i]->stream->Write(Bytes("the rest"));
    calls[i]->stream->WritesDone();
    EXPECT_TRUE(calls[i]->End().ok()) << i;
  }
}

TEST_F(RpcIncompleteTest, ManyThatComeToNothingKeepNobodyOut) {
  std::vector<std::unique_ptr<IncompleteCall>> calls;
  for (int i = 0; i < 50; ++i) calls.push_back(Start(i % 2 == 0 ? kUnary : kBothWays));
  EXPECT_EQ(refused_.load(), 50 - kMaxIncomplete + 1);
  EXPECT_EQ(echo_first_.begun.load(), 0);
  for (int i = 0; i < 50 - kMaxIncomplete; ++i)
    EXPECT_EQ(calls[i]->End().error_code(), StatusCode::RESOURCE_EXHAUSTED);
  for (int i = 50 - kMaxIncomplete; i < 50; ++i) {
    calls[i]->context.TryCancel();
    calls[i]->End();
  }
  EXPECT_TRUE(Call(server_.channel(), "request").ok());
}

TEST_F(RpcIncompleteTest, CallThatIsCancelledOrOutOfTimeMakesRoom) {
  for (int i = 0; i < 50; ++i) {
    Context context;
    if (i % 2 == 0)
      context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(1));
    const ReaderWriter call = StartBothWays(server_.channel(), context, kUnary);
    if (i % 2 != 0) context.TryCancel();
    EXPECT_EQ(call->Finish().error_code(),
              i % 2 == 0 ? StatusCode::DEADLINE_EXCEEDED : StatusCode::CANCELLED);
    RoundTrips(server_.channel(), 1);
  }
  EXPECT_EQ(refused_.load(), 0);
}

TEST_F(RpcIncompleteTest, UnaryCallWithoutARequestFails) {
  const auto call = Start();
  call->stream->WritesDone();
  const grpc::Status status = call->End();
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_THAT(status.error_message(), HasSubstr("takes exactly one message"));
}

TEST_F(RpcIncompleteTest, StreamGetsItsFirstMessageWhenItAsksForIt) {
  const auto call = Start(kBothWays);
  EXPECT_EQ(echo_first_.begun.load(), 0);
  call->stream->Write(Bytes("first"));
  EXPECT_TRUE(call->End().ok());
  EXPECT_EQ(call->last, "first");
  echo_first_.AwaitDone();
}

TEST_F(RpcIncompleteTest, StreamWithoutMessagesBeginsWithItsEnd) {
  const auto call = Start(kBothWays);
  call->stream->WritesDone();
  EXPECT_EQ(call->End().error_code(), StatusCode::OUT_OF_RANGE);
  echo_first_.AwaitDone();
}

TEST_F(RpcIncompleteTest, ShutdownDoesNotWaitForRequestsThatMayNeverCome) {
  const auto unary = Start();
  const auto stream = Start(kBothWays);
  server_.server().Shutdown(std::chrono::system_clock::now() + std::chrono::hours(1));
  for (const auto* call : {unary.get(), stream.get()}) {
    const grpc::Status status = call->stream->Finish();
    EXPECT_EQ(status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(status.error_message(), "the server is shutting down");
  }
  EXPECT_EQ(echo_first_.begun.load(), 0);
}

}  // namespace
}  // namespace millrace::server
