#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <string>

#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/byte_call.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

// Writes messages of a size, numbered in their first byte, one after another, then ends.
class Writer final : public Recorder {
 public:
  Writer(int messages, size_t bytes) : messages_(messages), bytes_(bytes) {}

  RpcService::Function Function() {
    return [this](ByteCall& rpc) {
      rpc.SetHandler(*this);
      rpc_ = &rpc;
      Next();
    };
  }

  std::atomic<int> written{0};
  std::atomic<int> failed{0};

 private:
  void OnWriteDone(bool ok) override {
    ++(ok ? written : failed);
    ok ? Next() : rpc_->Finish(absl::CancelledError());
  }
  void Next() {
    if (begun_ == messages_) {
      rpc_->AddTrailingMetadata("count", std::to_string(messages_));
      return rpc_->Finish(absl::OkStatus());
    }
    message_ = ByteBuffer(std::string(bytes_, static_cast<char>(begun_++)));
    rpc_->StartWrite(&message_);
  }

  const int messages_;
  const size_t bytes_;
  ByteCall* rpc_ = nullptr;
  int begun_ = 0;
  ByteBuffer message_;
};

TEST(RpcRepliesTest, ArriveInOrderThenTheStatusWithItsTrailers) {
  Writer writer(200, 10);
  RpcTestServer server({{"StreamSynthesize", writer.Function()}});
  Context context;
  const Reader reader = StartReplies(server.channel(), context);
  grpc::ByteBuffer message;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(reader->Read(&message));
    EXPECT_EQ(Text(message), std::string(10, static_cast<char>(i)));
  }
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(context.GetServerTrailingMetadata().count("count"), 1U);
  writer.AwaitDone();
  EXPECT_EQ(writer.written.load(), 200);
  EXPECT_EQ(writer.dones.load(), 1);
  EXPECT_EQ(writer.cancels.load(), 0);
}

TEST(RpcRepliesTest, RequestReachesTheFunctionAndNoReplyIsNeeded) {
  std::string request;
  RpcTestServer server({{"StreamSynthesize", [&](ByteCall& rpc) {
                           request = Text(rpc.request());
                           rpc.Finish(absl::NotFoundError("none"));
                         }}});
  Context context;
  const Reader reader = StartReplies(server.channel(), context, "the request");
  grpc::ByteBuffer message;
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(request, "the request");
}

TEST(RpcRepliesTest, WriteIsDoneOnlyWhenASlowReaderHasRoom) {
  constexpr int kMessages = 200;
  constexpr size_t kBytes = 256 << 10;  // more than what flow control lets through unread
  Writer writer(kMessages, kBytes);
  RpcTestServer server({{"Synthesize", Echo}, {"StreamSynthesize", writer.Function()}});
  Context context;
  const auto channel = server.NewChannel();
  const Reader reader = StartReplies(*channel, context);
  Await([&] { return writer.written.load() > 0; });
  RoundTrips(server.channel(), 200);
  const int ahead = writer.written.load();
  EXPECT_LT(ahead, kMessages / 2);
  grpc::ByteBuffer message;
  for (int i = 0; i < kMessages; ++i) {
    ASSERT_TRUE(reader->Read(&message));
    ASSERT_EQ(Text(message), std::string(kBytes, static_cast<char>(i)));
    // Give or take what is on its way.
    ASSERT_LE(writer.written.load(), i + ahead + 64);
  }
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
  writer.AwaitDone();
}

TEST(RpcRepliesTest, WriteThatWaitsFailsWhenTheClientLeaves) {
  Writer writer(200, 256 << 10);
  RpcTestServer server({{"StreamSynthesize", writer.Function()}});
  {
    Context context;
    const Reader reader = StartReplies(server.channel(), context);
    Await([&] { return writer.written.load() > 0; });
    context.TryCancel();
    EXPECT_EQ(reader->Finish().error_code(), StatusCode::CANCELLED);
  }
  writer.AwaitDone();
  EXPECT_EQ(writer.failed.load(), 1);
  EXPECT_EQ(writer.cancels.load(), 1);
  EXPECT_EQ(writer.dones.load(), 1);
}

// Gives back every message; ends when the client has ended.
class Echoes final : public Recorder {
 public:
  RpcService::Function Function() {
    return [this](ByteCall& rpc) {
      rpc.SetHandler(*this);
      rpc_ = &rpc;
      rpc.StartRead(&message_);
    };
  }

  std::atomic<int> reads_failed{0};

 private:
  void OnReadDone(bool ok) override {
    if (ok) return rpc_->StartWrite(&message_);
    ++reads_failed;
    rpc_->Finish(absl::OkStatus());
  }
  void OnWriteDone(bool ok) override {
    EXPECT_TRUE(ok);
    rpc_->StartRead(&message_);
  }

  ByteCall* rpc_ = nullptr;
  ByteBuffer message_;
};

TEST(RpcBothWaysTest, MessagesGoBackAndForthUntilTheClientEnds) {
  Echoes echoes;
  RpcTestServer server({{"SynthesizeTextStream", echoes.Function()}});
  Context context;
  const ReaderWriter call = StartBothWays(server.channel(), context);
  grpc::ByteBuffer reply;
  for (const std::string& text : {std::string("a"), std::string(), std::string(kLong, 'x')}) {
    ASSERT_TRUE(call->Write(Bytes(text)));
    ASSERT_TRUE(call->Read(&reply));
    EXPECT_EQ(Text(reply), text);
  }
  call->WritesDone();
  EXPECT_FALSE(call->Read(&reply));
  EXPECT_TRUE(call->Finish().ok());
  echoes.AwaitDone();
  EXPECT_EQ(echoes.reads_failed.load(), 1);
  EXPECT_EQ(echoes.cancels.load(), 0);
}

TEST(RpcBothWaysTest, ReadThatWaitsFailsWhenTheClientLeaves) {
  Echoes echoes;
  RpcTestServer server({{"SynthesizeTextStream", echoes.Function()}});
  {
    Context context;
    const ReaderWriter call = StartBothWays(server.channel(), context);
    grpc::ByteBuffer reply;
    ASSERT_TRUE(call->Write(Bytes("a")));
    ASSERT_TRUE(call->Read(&reply));
    context.TryCancel();
    EXPECT_EQ(call->Finish().error_code(), StatusCode::CANCELLED);
  }
  echoes.AwaitDone();
  EXPECT_EQ(echoes.reads_failed.load(), 1);
  EXPECT_EQ(echoes.cancels.load(), 1);
  EXPECT_EQ(echoes.dones.load(), 1);
}

// As a stream of text that turns out to be invalid: the client still has its end open.
TEST(RpcBothWaysTest, EndsWhileAReadWaitsAndTheReadIsToldFirst) {
  struct Held final : HeldCall {
    void OnReadDone(bool ok) override {
      EXPECT_EQ(ok, reads == 0);
      EXPECT_EQ(dones.load(), 0);
      ++reads;
    }
    std::atomic<int> reads{0};
    ByteBuffer message;
  } held;
  RpcTestServer server({{"SynthesizeTextStream", held.Function()}});
  Context context;
  const ReaderWriter call = StartBothWays(server.channel(), context);
  ASSERT_TRUE(call->Write(Bytes("bad")));
  ByteCall& rpc = held.rpc();
  rpc.StartRead(&held.message);
  Await([&] { return held.reads.load() == 1; });
  rpc.StartRead(&held.message);
  rpc.Finish(absl::InvalidArgumentError("bad"));
  EXPECT_EQ(call->Finish().error_code(), StatusCode::INVALID_ARGUMENT);
  held.AwaitDone();
  EXPECT_EQ(held.reads.load(), 2);
  EXPECT_EQ(held.cancels.load(), 0);
}

// A read and a write from threads of their own, again and again.
TEST(RpcBothWaysTest, ReadsAndWritesFromOtherThreadsDoNotDisturbEachOther) {
  constexpr int kMessages = 500;
  struct Held final : HeldCall {
    void OnReadDone(bool ok) override { read.Set(ok); }
    void OnWriteDone(bool ok) override { written.Set(ok); }
    struct Told {
      void Set(bool ok) {
        EXPECT_TRUE(ok);
        told.release();
      }
      std::binary_semaphore told{0};
    };
    Told read;
    Told written;
  } held;
  RpcTestServer server({{"SynthesizeTextStream", held.Function()}});
  Context context;
  const ReaderWriter call = StartBothWays(server.channel(), context);
  JoiningThread client_writes([&] {
    for (int i = 0; i < kMessages; ++i) EXPECT_TRUE(call->Write(Bytes(std::to_string(i))));
  });
  ByteCall& rpc = held.rpc();
  {
    JoiningThread reads([&] {
      ByteBuffer message;
      for (int i = 0; i < kMessages; ++i) {
        rpc.StartRead(&message);
        held.read.told.acquire();
        EXPECT_EQ(Text(message), std::to_string(i));
      }
    });
    JoiningThread writes([&] {
      for (int i = 0; i < kMessages; ++i) {
        const ByteBuffer message(std::to_string(-i));
        rpc.StartWrite(&message);
        held.written.told.acquire();
      }
    });
    grpc::ByteBuffer message;
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_TRUE(call->Read(&message));
      EXPECT_EQ(Text(message), std::to_string(-i));
    }
  }
  rpc.Finish(absl::OkStatus());
  EXPECT_TRUE(call->Finish().ok());
  held.AwaitDone();
}

}  // namespace
}  // namespace millrace::server
