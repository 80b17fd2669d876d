#include "server/requests/reply_buffer.h"

#include <barrier>
#include <memory>
#include <optional>
#include <string>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using testing::FakeReply;

constexpr size_t kMaxBytes = 100;
constexpr int kReplyBufferRounds = 300;

class ReplyBufferTest : public SchedulingTest {
 protected:
  void Push(size_t bytes) { buffer_->Push(std::string(bytes, 'x'), bytes); }
  std::unique_ptr<Job> MakeJob() { return SchedulingTest::MakeJob(model_, reply_); }
  // The jobs that were handed back to the scheduler.
  size_t Requeued() const { return scheduler_.depth(model_->queue()); }

  std::shared_ptr<ServedModel> model_ = MakeModel("m");
  FakeReply reply_;
  std::optional<ReplyBuffer<std::string>> buffer_{std::in_place, scheduler_, kMaxBytes};
};

TEST_F(ReplyBufferTest, EndComesAfterThePieces) {
  buffer_->Push("a", 1);
  buffer_->Push("b", 1);
  buffer_->End(absl::OkStatus());
  EXPECT_EQ(buffer_->end(), std::nullopt);
  EXPECT_EQ(buffer_->Pop(), "a");
  EXPECT_EQ(buffer_->end(), std::nullopt);
  EXPECT_EQ(buffer_->Pop(), "b");
  EXPECT_EQ(buffer_->end(), absl::OkStatus());
  EXPECT_EQ(buffer_->Pop(), std::nullopt);
}

TEST_F(ReplyBufferTest, AnErrorDiscardsAllButThePieceInUse) {
  for (const char* piece : {"a", "b", "c"}) buffer_->Push(piece, 60);
  EXPECT_EQ(*buffer_->Front(), "a");
  buffer_->End(absl::InternalError("broken"));
  EXPECT_FALSE(buffer_->Congested());
  EXPECT_EQ(buffer_->end(), std::nullopt);
  EXPECT_EQ(buffer_->Pop(), "a");
  EXPECT_EQ(buffer_->Front(), nullptr);
  EXPECT_EQ(buffer_->end(), absl::InternalError("broken"));
}

TEST_F(ReplyBufferTest, AParkedJobGoesOnOnceHalfOfTheBytesAreGone) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(buffer_->Congested());
    Push(40);
  }
  EXPECT_TRUE(buffer_->Congested());
  buffer_->Park(MakeJob());
  buffer_->Pop();
  EXPECT_FALSE(buffer_->Congested());
  EXPECT_EQ(Requeued(), 0U);
  buffer_->Pop();
  EXPECT_EQ(Requeued(), 1U);
  buffer_->Pop();
  EXPECT_EQ(Requeued(), 1U);
}

TEST_F(ReplyBufferTest, AJobThatIsParkedTooLateGoesOnAtOnce) {
  Push(120);
  EXPECT_TRUE(buffer_->Congested());
  buffer_->Pop();
  buffer_->Park(MakeJob());
  EXPECT_EQ(Requeued(), 1U);
}

TEST_F(ReplyBufferTest, StopEndsTheParkedJobAndDiscardsPieces) {
  Push(120);
  buffer_->Park(MakeJob());
  reply_.Cancel();
  buffer_->Stop();
  EXPECT_EQ(reply_.status(), absl::CancelledError("the caller went away"));
  EXPECT_EQ(buffer_->Pop(), std::nullopt);
  Push(1);
  EXPECT_TRUE(buffer_->empty());
  EXPECT_TRUE(buffer_->over());
  EXPECT_EQ(Requeued(), 0U);
}

TEST_F(ReplyBufferTest, AJobThatIsParkedAfterStopGoesToTheScheduler) {
  Push(120);
  buffer_->Stop();
  buffer_->Park(MakeJob());
  EXPECT_EQ(Requeued(), 1U);
}

TEST_F(ReplyBufferTest, OutcomeTellsWhetherAllOfItArrived) {
  EXPECT_EQ(buffer_->Outcome().code(), absl::StatusCode::kCancelled);
  buffer_->End(absl::OkStatus());
  EXPECT_EQ(buffer_->Outcome().code(), absl::StatusCode::kCancelled);
  buffer_->SetDelivered();
  EXPECT_EQ(buffer_->Outcome(), absl::OkStatus());
  buffer_->End(absl::InternalError("broken"));
  EXPECT_EQ(buffer_->Outcome(), absl::InternalError("broken"));
}

TEST_F(ReplyBufferTest, WaitEndsWithAPiece) {
  const auto never = std::chrono::steady_clock::now() + std::chrono::hours(1);
  JoiningThread worker([&] { Push(1); });
  buffer_->WaitUntil(never);
  EXPECT_EQ(buffer_->Pop(), "x");
}

// The worker found the reply congested and is about to park its job, as the client takes all. The
// job must go on exactly once: a lost one would never end.
TEST_F(ReplyBufferTest, AJobIsNotLostWhenTheClientCatchesUpAsItIsParked) {
  std::barrier start(2);
  for (int round = 0; round < kReplyBufferRounds; ++round) {
    buffer_.emplace(scheduler_, kMaxBytes);
    for (int i = 0; i < 3; ++i) Push(40);
    {
      JoiningThread worker([&] {
        std::unique_ptr<Job> job = MakeJob();
        ASSERT_TRUE(buffer_->Congested());
        start.arrive_and_wait();
        buffer_->Park(std::move(job));
      });
      JoiningThread client([&] {
        start.arrive_and_wait();
        while (buffer_->Pop()) {
        }
      });
    }
    ASSERT_EQ(Requeued(), 1U) << round;
    ASSERT_NE(scheduler_.Remove(model_->queue(), reply_), nullptr);
  }
}

// The client leaves in that moment. The job either ends here or goes on to the scheduler, which
// ends it.
TEST_F(ReplyBufferTest, AJobIsNotLostWhenTheClientLeavesAsItIsParked) {
  std::barrier start(2);
  for (int round = 0; round < kReplyBufferRounds; ++round) {
    buffer_.emplace(scheduler_, kMaxBytes);
    Push(120);
    FakeReply reply;
    {
      JoiningThread worker([&] {
        std::unique_ptr<Job> job = SchedulingTest::MakeJob(model_, reply);
        start.arrive_and_wait();
        buffer_->Park(std::move(job));
      });
      JoiningThread client([&] {
        start.arrive_and_wait();
        reply.Cancel();
        buffer_->Stop();
      });
    }
    const bool requeued = scheduler_.Remove(model_->queue(), reply) != nullptr;
    ASSERT_NE(requeued, reply.finishes() == 1) << round;
  }
}

// Pieces are made while the client takes them and the reply ends.
TEST_F(ReplyBufferTest, EveryPieceArrivesOnceWhileItIsTaken) {
  constexpr int kPieces = 50;
  std::barrier start(2);
  for (int round = 0; round < kReplyBufferRounds; ++round) {
    buffer_.emplace(scheduler_, kMaxBytes);
    int taken = 0;
    {
      JoiningThread worker([&] {
        start.arrive_and_wait();
        for (int i = 0; i < kPieces; ++i) Push(1);
        buffer_->End(absl::OkStatus());
      });
      JoiningThread client([&] {
        start.arrive_and_wait();
        while (!buffer_->end()) taken += buffer_->Pop() ? 1 : 0;
      });
    }
    ASSERT_EQ(taken, kPieces) << round;
  }
}

}  // namespace
}  // namespace millrace::server
