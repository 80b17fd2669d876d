#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <future>
#include <latch>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "server/rpc/background_thread.h"
#include "tests/unit/server/rpc/rpc_fixture.h"

namespace millrace::server {
namespace {

using grpc::StatusCode;

constexpr size_t kLong = 100 << 10;  // such a message is begun on another thread

std::chrono::system_clock::time_point Now() { return std::chrono::system_clock::now(); }

// A server whose calls wait; `held` is the first of them.
class RpcShutdownTest : public ::testing::Test {
 protected:
  // Starts a call and waits until it has come.
  void StartCall() {
    client_.emplace([this] { status_ = Call(server_.channel(), "", &reply_); });
    held_ = came_.get_future().get();
  }
  // Begins it on a thread of its own, and waits until the server refuses calls.
  void BeginShutdown(std::chrono::system_clock::time_point deadline) {
    shutdown_.emplace([this, deadline] {
      server_.server().Shutdown(deadline);
      is_shut_down_ = true;
    });
  }
  void AwaitRefusal() {
    const auto refused = [this] {
      grpc::ClientContext context;  // does not wait for a connection
      context.set_deadline(Now() + std::chrono::seconds(60));
      return Call(*server_.NewChannel(), context, "", nullptr, "/No/No").error_code() ==
             StatusCode::UNAVAILABLE;
    };
    Await(refused);
  }

  Recorder recorder_;
  std::promise<ByteCall*> came_;
  ByteCall* held_ = nullptr;
  grpc::Status status_;
  std::string reply_;
  std::atomic<bool> is_shut_down_{false};
  RpcTestServer server_{{{"Synthesize", [this](ByteCall& rpc) {
                            rpc.SetHandler(recorder_);
                            came_.set_value(&rpc);
                          }}}};
  std::optional<JoiningThread> client_;
  std::optional<JoiningThread> shutdown_;
};

TEST_F(RpcShutdownTest, WaitsForACallThatEndsByItself) {
  StartCall();
  BeginShutdown(Now() + std::chrono::hours(1));
  AwaitRefusal();
  EXPECT_FALSE(is_shut_down_.load());
  EXPECT_EQ(recorder_.cancels.load(), 0);
  held_->Finish(ByteBuffer("in the end"));
  shutdown_->join();
  client_->join();
  EXPECT_TRUE(status_.ok()) << status_.error_message();
  EXPECT_EQ(reply_, "in the end");
  EXPECT_EQ(recorder_.dones.load(), 1);
  EXPECT_EQ(recorder_.cancels.load(), 0);
}

TEST_F(RpcShutdownTest, CancelsAtTheDeadlineAndWaitsForTheEnd) {
  StartCall();
  BeginShutdown(Now());
  Await([this] { return recorder_.cancels.load() != 0; });
  EXPECT_FALSE(is_shut_down_.load());
  held_->Finish(absl::UnavailableError("stopped"));
  shutdown_->join();
  client_->join();
  EXPECT_FALSE(status_.ok());
  EXPECT_EQ(recorder_.cancels.load(), 1);
  EXPECT_EQ(recorder_.dones.load(), 1);
}

TEST_F(RpcShutdownTest, CallAfterItFails) {
  server_.server().Shutdown(Now());
  grpc::ClientContext context;
  EXPECT_EQ(Call(server_.channel(), context, "").error_code(), StatusCode::UNAVAILABLE);
}

TEST_F(RpcShutdownTest, MayBeRepeated) {
  server_.server().Shutdown(Now());
  server_.server().Shutdown(Now() + std::chrono::hours(1));
}

TEST(IdleRpcShutdownTest, ServerThatNeverHadACallStops) {
  for (int i = 0; i < 20; ++i) {
    RpcTestServer server({{"Synthesize", Echo}, {"SynthesizeTextStream", Echo}});
  }
}

TEST(IdleRpcShutdownTest, ServerWithoutMethodsStops) {
  RpcTestServer server({});
  EXPECT_EQ(Call(server.channel(), "").error_code(), StatusCode::UNIMPLEMENTED);
}

// A health watch ends so when the server stops.
TEST(IdleRpcShutdownTest, AStreamThatEndsBehindItsLastMessageIsFlushed) {
  class Stream final : public Recorder {
   public:
    void Begin(ByteCall& rpc) {
      rpc.SetHandler(*this);
      rpc.StartWrite(&message_);
      rpc.Finish(absl::OkStatus());
      ended.count_down();
    }
    void OnWriteDone(bool ok) override { written = ok; }

    std::atomic<bool> written{false};
    std::latch ended{1};

   private:
    // Longer than what the client has room for while it does not read.
    const ByteBuffer message_{std::string(20 << 20, 'x')};
  };
  Stream stream;
  RpcTestServer server({{"StreamSynthesize", [&](ByteCall& rpc) { stream.Begin(rpc); }}});
  Context context;
  const Reader reader = StartReplies(server.channel(), context);
  stream.ended.wait();
  std::latch flushing(1);
  JoiningThread flush([&] {
    flushing.count_down();
    server.server().FlushAnswers(Now() + std::chrono::hours(1));
    EXPECT_TRUE(stream.written.load());
  });
  flushing.wait();
  grpc::ByteBuffer message;
  EXPECT_TRUE(reader->Read(&message));
  EXPECT_EQ(message.Length(), size_t{20} << 20);
  EXPECT_FALSE(reader->Read(&message));
  EXPECT_TRUE(reader->Finish().ok());
  flush.join();
  server.server().Shutdown(Now() + std::chrono::hours(1));
  EXPECT_EQ(stream.dones.load(), 1);
}

TEST(IdleRpcShutdownTest, FunctionThatStillRunsIsWaitedFor) {
  std::latch inside(1);
  std::latch open(1);
  std::atomic<bool> returned{false};
  Recorder recorder;
  RpcTestServer server({{"Synthesize", [&](ByteCall& rpc) {
                           rpc.SetHandler(recorder);
                           inside.count_down();
                           open.wait();
                           rpc.Finish(absl::OkStatus());
                           returned = true;
                         }}});
  JoiningThread client([&] { EXPECT_FALSE(Call(server.channel(), std::string(kLong, 'x')).ok()); });
  inside.wait();
  std::latch shutting_down(1);
  JoiningThread shutdown([&] {
    shutting_down.count_down();
    server.server().Shutdown(Now());
    EXPECT_TRUE(returned.load());
    EXPECT_EQ(recorder.dones.load(), 1);
    EXPECT_EQ(recorder.cancels.load(), 1);
  });
  // Its client is told at once, so by then the call has been cancelled.
  client.join();
  open.count_down();
}

// Begun and ended in every way there is, each call by itself.
class RaceCall final : public ByteCall::Handler, public Mail {
 public:
  struct Counts {
    std::atomic<int> begun{0};
    std::atomic<int> done{0};
    std::atomic<int> told_twice{0};
  };
  RaceCall(Counts& counts, BackgroundThread& ends, ByteCall& rpc)
      : counts_(counts), ends_(ends), rpc_(rpc) {
    ++counts_.begun;
    rpc_.SetHandler(*this);
  }
  void Answer() {
    reply_ = rpc_.request();
    EndElsewhere();
  }
  void WriteNext() {
    if (writes_left_-- == 0) return EndElsewhere();
    message_ = ByteBuffer(std::string(1000, 'x'));
    rpc_.StartWrite(&message_);
  }
  // Ends when the client does.
  void Read() { rpc_.StartRead(&message_); }

 private:
  void EndElsewhere() { ends_.Post(*this); }
  void Deliver() override {
    reply_ ? rpc_.Finish(*std::move(reply_)) : rpc_.Finish(absl::OkStatus());
  }
  void OnReadDone(bool ok) override { ok ? Read() : EndElsewhere(); }
  void OnWriteDone(bool ok) override { ok ? WriteNext() : EndElsewhere(); }
  void OnCancel() override {
    if (std::exchange(cancelled_, true)) ++counts_.told_twice;
  }
  void OnDone() override {
    ++counts_.done;
    delete this;
  }

  Counts& counts_;
  BackgroundThread& ends_;
  ByteCall& rpc_;
  bool cancelled_ = false;
  int writes_left_ = 5;
  ByteBuffer message_;
  std::optional<ByteBuffer> reply_;
};

// The clients of one thread, of one kind after another: they stay, cancel, or run out of time.
void MakeCalls(grpc::Channel& channel, std::barrier<>& start, int calls) {
  grpc::ByteBuffer message;
  AwaitConnected(channel);
  start.arrive_and_wait();
  for (int i = 0; i < calls; ++i) {
    grpc::ClientContext context;
    switch (i % 6) {
      case 0:
        Call(channel, context, "small");
        break;
      case 1:
        Call(channel, context, std::string(kLong, 'x'));
        break;
      case 2:
        context.set_deadline(Now() + std::chrono::microseconds(300));
        Call(channel, context, std::string(i % 4 == 0 ? kLong : 10, 'x'));
        break;
      case 3: {
        const Reader reader = StartReplies(channel, context);
        while (reader->Read(&message)) continue;
        reader->Finish();
        break;
      }
      case 4: {
        const Reader reader = StartReplies(channel, context);
        reader->Read(&message);
        context.TryCancel();
        reader->Finish();
        break;
      }
      default: {
        const ReaderWriter call = StartBothWays(channel, context);
        call->Write(Bytes("x"));
        if (i % 4 == 1) {
          call->WritesDone();
        } else {
          context.TryCancel();
        }
        call->Finish();
      }
    }
  }
}

// Calls of every kind come, end and are cancelled while the server stops: all that began end, once.
TEST(RpcShutdownRaceTest, EveryCallThatBeganEndsOnce) {
  constexpr int kRounds = 20;
  constexpr int kClients = 8;
  constexpr int kCalls = 30;
  for (int round = 0; round < kRounds; ++round) {
    RaceCall::Counts counts;
    BackgroundThread ends;
    RpcTestServer server(
        {{"Synthesize", [&](ByteCall& rpc) { (new RaceCall(counts, ends, rpc))->Answer(); }},
         {"StreamSynthesize",
          [&](ByteCall& rpc) { (new RaceCall(counts, ends, rpc))->WriteNext(); }},
         {"SynthesizeTextStream",
          [&](ByteCall& rpc) { (new RaceCall(counts, ends, rpc))->Read(); }}});
    std::barrier start(kClients + 1);
    std::vector<JoiningThread> clients;
    for (int c = 0; c < kClients; ++c) {
      clients.emplace_back(
          [&, channel = server.NewChannel()] { MakeCalls(*channel, start, kCalls); });
    }
    start.arrive_and_wait();
    // Later in each round, so that all of it is met.
    Await([&] { return counts.begun.load() >= round * 5; });
    server.server().Shutdown(Now() + std::chrono::milliseconds(round % 2 == 0 ? 0 : 5));
    EXPECT_EQ(counts.done.load(), counts.begun.load());
    EXPECT_EQ(counts.told_twice.load(), 0);
  }
}

}  // namespace
}  // namespace millrace::server
