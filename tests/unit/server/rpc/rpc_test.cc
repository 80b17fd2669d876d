#include "server/rpc/rpc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/joining_thread.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;
using testing::JoiningThread;

constexpr size_t kLong = 100 << 10;  // such a message is begun on another thread

// A call that the test holds: it comes, and ends when the test ends it.
class HeldCall : public Recorder {
 public:
  RpcService::Function Function() {
    return [this](Rpc& rpc) {
      rpc.SetHandler(*this);
      rpc_.set_value(&rpc);
    };
  }
  // Waits until it has come. Once.
  Rpc& rpc() { return *rpc_.get_future().get(); }

 private:
  std::promise<Rpc*> rpc_;
};

TEST(RpcUnary, IsAnsweredFromItsFunction) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (const std::string& text : {std::string(), std::string("abc"), std::string(kLong, 'x')}) {
    std::string reply = "?";
    EXPECT_TRUE(Call(server.channel(), text, &reply).ok());
    EXPECT_EQ(reply, text);
  }
}

TEST(RpcUnary, IsAnsweredFromAnotherThread) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread answers([&] { call.rpc().Finish(Bytes("from afar")); });
  std::string reply;
  EXPECT_TRUE(Call(server.channel(), "", &reply).ok());
  EXPECT_EQ(reply, "from afar");
  call.AwaitDone();
  EXPECT_EQ(call.dones.load(), 1);
  EXPECT_EQ(call.cancels.load(), 0);
}

TEST(RpcUnary, FunctionThatThrowsCostsItsCallAlone) {
  RpcTestServer server({{"Synthesize", [](Rpc& rpc) {
                           if (rpc.request().Length() == 0) throw std::length_error("too long");
                           Echo(rpc);
                         }}});
  const grpc::Status status = Call(server.channel(), "");
  EXPECT_EQ(status.error_code(), StatusCode::INTERNAL);
  EXPECT_EQ(status.error_message(), "too long");
  EXPECT_TRUE(Call(server.channel(), "abc").ok());
}

// More than are awaited at once, all at the same time.
TEST(RpcUnary, ManyAtOnceAreAllBegunAndGetTheirOwnAnswer) {
  constexpr int kCalls = 50;
  std::mutex mu;
  std::vector<Rpc*> held;
  RpcTestServer server({{"Synthesize", [&](Rpc& rpc) {
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
  for (Rpc* rpc : held) rpc->Finish(rpc->request());
}

TEST(RpcUnary, FunctionSeesMetadataAndDeadline) {
  std::string metadata;
  std::vector<std::chrono::system_clock::time_point> deadlines;
  RpcTestServer server({{"Synthesize", [&](Rpc& rpc) {
                           if (const auto found = rpc.client_metadata().find("key");
                               found != rpc.client_metadata().end())
                             metadata.assign(found->second.data(), found->second.size());
                           deadlines.push_back(rpc.deadline());
                           rpc.Finish(grpc::ByteBuffer(rpc.request()));
                         }}});
  ASSERT_TRUE(Call(server.channel(), "").ok());
  Context context;
  context.AddMetadata("key", "value");
  const auto deadline = std::chrono::system_clock::now() + std::chrono::hours(1);
  context.set_deadline(deadline);
  ASSERT_TRUE(Call(server.channel(), context, "").ok());
  EXPECT_EQ(metadata, "value");
  ASSERT_EQ(deadlines.size(), 2U);
  EXPECT_EQ(deadlines[0], std::chrono::system_clock::time_point::max());
  EXPECT_GT(deadlines[1], deadline - std::chrono::minutes(1));
  EXPECT_LT(deadlines[1], deadline + std::chrono::minutes(1));
}

TEST(RpcUnary, ErrorArrivesWithItsTrailers) {
  HeldCall call;
  RpcTestServer server({{"Synthesize", call.Function()}});
  JoiningThread answers([&] {
    Rpc& rpc = call.rpc();
    rpc.AddTrailingMetadata("hint", "42");
    rpc.Finish(grpc::Status(StatusCode::RESOURCE_EXHAUSTED, "later"));
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
TEST(RpcUnary, CallWithoutAMessageFailsAndTheServerGoesOn) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (int i = 0; i < 20; ++i) {
    Context context;
    const ReaderWriter call = StartBothWays(server.channel(), context, kUnary);
    call->WritesDone();
    EXPECT_FALSE(call->Finish().ok());
  }
  EXPECT_TRUE(Call(server.channel(), "").ok());
}

TEST(RpcService, WhatIsNotServedIsUnimplemented) {
  RpcTestServer server({{"Synthesize", Echo}});
  for (int i = 0; i < 20; ++i) {
    for (const char* path : {kReplies, kBothWays, "/millrace.v1.SynthesisService/No", "/No/No"}) {
      EXPECT_EQ(Call(server.channel(), "", nullptr, path).error_code(), StatusCode::UNIMPLEMENTED);
    }
  }
  EXPECT_TRUE(Call(server.channel(), "").ok());
}

// Writes messages of a size, numbered in their first byte, one after another, then ends.
class Writer final : public Recorder {
 public:
  Writer(int messages, size_t bytes) : messages_(messages), bytes_(bytes) {}

  RpcService::Function Function() {
    return [this](Rpc& rpc) {
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
    ok ? Next() : rpc_->Finish(grpc::Status::CANCELLED);
  }
  void Next() {
    if (begun_ == messages_) {
      rpc_->AddTrailingMetadata("count", std::to_string(messages_));
      return rpc_->Finish(grpc::Status::OK);
    }
    message_ = Bytes(std::string(bytes_, static_cast<char>(begun_++)));
    rpc_->StartWrite(&message_);
  }

  const int messages_;
  const size_t bytes_;
  Rpc* rpc_ = nullptr;
  int begun_ = 0;
  grpc::ByteBuffer message_;
};

TEST(RpcReplies, ArriveInOrderThenTheStatusWithItsTrailers) {
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

TEST(RpcReplies, RequestReachesTheFunctionAndNoReplyIsNeeded) {
  std::string request;
  RpcTestServer server({{"StreamSynthesize", [&](Rpc& rpc) {
                           request = Text(rpc.request());
                           rpc.Finish(grpc::Status(StatusCode::NOT_FOUND, "none"));
                         }}});
  Context context;
  const Reader reader = StartReplies(server.channel(), context, "the request");
  grpc::ByteBuffer message;
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_EQ(reader->Finish().error_code(), StatusCode::NOT_FOUND);
  EXPECT_EQ(request, "the request");
}

TEST(RpcReplies, WriteIsDoneOnlyWhenASlowReaderHasRoom) {
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

TEST(RpcReplies, WriteThatWaitsFailsWhenTheClientLeaves) {
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
    return [this](Rpc& rpc) {
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
    rpc_->Finish(grpc::Status::OK);
  }
  void OnWriteDone(bool ok) override {
    EXPECT_TRUE(ok);
    rpc_->StartRead(&message_);
  }

  Rpc* rpc_ = nullptr;
  grpc::ByteBuffer message_;
};

TEST(RpcBothWays, MessagesGoBackAndForthUntilTheClientEnds) {
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

TEST(RpcBothWays, ReadThatWaitsFailsWhenTheClientLeaves) {
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
TEST(RpcBothWays, EndsWhileAReadWaitsAndTheReadIsToldFirst) {
  struct Held final : HeldCall {
    void OnReadDone(bool ok) override {
      EXPECT_FALSE(ok);
      EXPECT_EQ(dones.load(), 0);
      ++reads;
    }
    std::atomic<int> reads{0};
    grpc::ByteBuffer message;
  } held;
  RpcTestServer server({{"SynthesizeTextStream", held.Function()}});
  Context context;
  const ReaderWriter call = StartBothWays(server.channel(), context);
  Rpc& rpc = held.rpc();
  rpc.StartRead(&held.message);
  rpc.Finish(grpc::Status(StatusCode::INVALID_ARGUMENT, "bad"));
  EXPECT_EQ(call->Finish().error_code(), StatusCode::INVALID_ARGUMENT);
  held.AwaitDone();
  EXPECT_EQ(held.reads.load(), 1);
  EXPECT_EQ(held.cancels.load(), 0);
}

// A read and a write from threads of their own, again and again.
TEST(RpcBothWays, ReadsAndWritesFromOtherThreadsDoNotDisturbEachOther) {
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
  Rpc& rpc = held.rpc();
  {
    JoiningThread reads([&] {
      grpc::ByteBuffer message;
      for (int i = 0; i < kMessages; ++i) {
        rpc.StartRead(&message);
        held.read.told.acquire();
        EXPECT_EQ(Text(message), std::to_string(i));
      }
    });
    JoiningThread writes([&] {
      for (int i = 0; i < kMessages; ++i) {
        const grpc::ByteBuffer message = Bytes(std::to_string(-i));
        rpc.StartWrite(&message);
        held.written.told.acquire();
      }
    });
    JoiningThread client_writes([&] {
      for (int i = 0; i < kMessages; ++i) EXPECT_TRUE(call->Write(Bytes(std::to_string(i))));
    });
    grpc::ByteBuffer message;
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_TRUE(call->Read(&message));
      EXPECT_EQ(Text(message), std::to_string(-i));
    }
  }
  rpc.Finish(grpc::Status::OK);
  EXPECT_TRUE(call->Finish().ok());
  held.AwaitDone();
}

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

TEST(RpcUnary, OnlyTheFirstFinishCounts) {
  RpcTestServer server({{"Synthesize", [](Rpc& rpc) {
                           rpc.Finish(Bytes("first"));
                           rpc.Finish(grpc::Status(StatusCode::INTERNAL, "second"));
                           rpc.Finish(Bytes("third"));
                         }}});
  std::string reply;
  EXPECT_TRUE(Call(server.channel(), "", &reply).ok());
  EXPECT_EQ(reply, "first");
}

// Blocks in the function of a long message until it is told to go on.
class Blocking final : public Recorder {
 public:
  // early: whether it is a handler before it blocks.
  RpcService::Function Function(bool early) {
    return [this, early](Rpc& rpc) {
      if (rpc.request().Length() < kLong) return Echo(rpc);
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
    rpc_->Finish(grpc::Status::CANCELLED);
  }
  void AwaitInside() { inside_.wait(); }
  void Open() { open_.count_down(); }

 private:
  std::latch inside_{1};
  std::latch open_{1};
  Rpc* rpc_ = nullptr;
};

TEST(RpcLongMessage, SmallCallsAreAnsweredWhileItsFunctionBlocks) {
  std::latch inside(1);
  std::latch open(1);
  RpcTestServer server({{"Synthesize", [&](Rpc& rpc) {
                           if (rpc.request().Length() >= kLong) {
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
TEST(RpcLongMessage, SlowMethodsHoldUpOnlyOneAnother) {
  class SlowService final : public RpcService {
   public:
    explicit SlowService(std::latch& inside, std::latch& open)
        : RpcService(v1::SynthesizeRequest::descriptor()->file()->service(0)->full_name()) {
      Serve("Synthesize", Echo, 10);
      ServeSlowly("StreamSynthesize", [&](Rpc& rpc) {
        inside.count_down();
        open.wait();
        rpc.Finish(grpc::Status::OK);
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

class RpcLongMessageCancel : public ::testing::TestWithParam<bool> {};

TEST_P(RpcLongMessageCancel, CancelIsToldOnceItsFunctionHasReturned) {
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

INSTANTIATE_TEST_SUITE_P(HandlerIsSet, RpcLongMessageCancel, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Early" : "Late"; });

}  // namespace
}  // namespace millrace::server
