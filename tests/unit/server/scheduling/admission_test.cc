#include "server/scheduling/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mps_runtime/base/clock.h"
#include "mps_runtime/base/joining_thread.h"
#include "server/scheduling/refusal.h"
#include "tests/fakes/at_once.h"

namespace millrace::server {
namespace {

constexpr TimePoint kNow{};  // long past: a look without a wait

TEST(AdmissionTest, AdmitsUpToItsLimitAndRefusesWithTheNumber) {
  Admission admission(2);
  const auto first = admission.TryEnter();
  const auto second = admission.TryEnter();
  ASSERT_TRUE(first.ok() && second.ok());
  const auto third = admission.TryEnter();
  EXPECT_EQ(third.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(third.status().ToString().find("2 requests in flight"), std::string::npos);
  EXPECT_GT(RetryHint(third.status()).count(), 0);
  EXPECT_EQ(admission.in_flight(), 2);  // the refused one took no place
}

TEST(AdmissionTest, ReleasedTicketMakesRoom) {
  Admission admission(1);
  {
    const auto ticket = admission.TryEnter();
    ASSERT_TRUE(ticket.ok());
  }
  EXPECT_EQ(admission.in_flight(), 0);
  EXPECT_TRUE(admission.TryEnter().ok());
}

TEST(AdmissionTest, ClosedRefusesAsUnavailableButKeepsTheAdmitted) {
  Admission admission(2);
  const auto ticket = admission.TryEnter();
  EXPECT_FALSE(admission.closed());
  admission.Close();
  admission.Close();
  EXPECT_TRUE(admission.closed());
  EXPECT_EQ(admission.TryEnter().status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(admission.in_flight(), 1);
}

TEST(TicketTest, MoveHandsThePlaceOn) {
  Admission admission(1);
  {
    std::optional<Ticket> first(*admission.TryEnter());
    const Ticket second(std::move(*first));
    first.reset();
    EXPECT_EQ(admission.in_flight(), 1);
  }
  EXPECT_EQ(admission.in_flight(), 0);
}

TEST(TicketTest, AssignmentKeepsEachPlaceOnce) {
  Admission one(1), other(1);
  {
    Ticket ticket = *one.TryEnter();
    {
      Ticket next = *other.TryEnter();
      ticket = std::move(next);
    }
    EXPECT_EQ(one.in_flight(), 0);
    EXPECT_EQ(other.in_flight(), 1);
  }
  EXPECT_EQ(other.in_flight(), 0);
}

TEST(TicketTest, EmptyOneHoldsNothing) {
  const Ticket none;
  Ticket also_none;
  also_none = Ticket();
}

TEST(AdmissionTest, WaitUntilEmptyGivesUpAtItsDeadline) {
  Admission admission(1);
  const auto ticket = admission.TryEnter();
  admission.Close();
  EXPECT_FALSE(admission.WaitUntilEmpty(kNow));
}

TEST(AdmissionTest, WaitUntilEmptyReturnsAtOnceWhenNobodyIsIn) {
  Admission admission(1);
  admission.Close();
  EXPECT_TRUE(admission.WaitUntilEmpty(kNow));
}

TEST(AdmissionTest, LastTicketEndsTheWait) {
  for (int round = 0; round < 200; ++round) {
    Admission admission(2);
    std::optional<Ticket> first(*admission.TryEnter());
    std::optional<Ticket> second(*admission.TryEnter());
    admission.Close();
    testing::AllAtOnce([&] { first.reset(); }, [&] { second.reset(); },
                       [&] {
                         // A lost wake-up would wait for the test's time limit.
                         ASSERT_TRUE(admission.WaitUntilEmpty(TimePoint::max()));
                         ASSERT_EQ(admission.in_flight(), 0);
                       });
  }
}

// A request let in while the door closes is seen by the wait: it never says empty with one inside.
TEST(AdmissionTest, EnterRacesClose) {
  constexpr int kThreads = 16;
  for (int round = 0; round < 100; ++round) {
    Admission admission(kThreads);
    std::atomic<int> inside{0};
    std::barrier start(kThreads + 1);
    std::vector<JoiningThread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        auto ticket = admission.TryEnter();
        if (!ticket.ok()) return;
        inside.fetch_add(1);
        std::this_thread::yield();
        inside.fetch_sub(1);
      });
    }
    start.arrive_and_wait();
    admission.Close();
    ASSERT_TRUE(admission.WaitUntilEmpty(TimePoint::max()));
    EXPECT_EQ(inside.load(), 0);
    EXPECT_EQ(admission.TryEnter().status().code(), absl::StatusCode::kUnavailable);
  }
}

TEST(AdmissionTest, NeverAdmitsMoreThanItsLimit) {
  constexpr int kThreads = 16;
  constexpr int kLimit = 3;
  Admission admission(kLimit);
  std::atomic<int> inside{0};
  std::atomic<int> admitted{0};
  std::atomic<bool> too_many{false};
  testing::AtOnce(kThreads, [&] {
    for (int turn = 0; turn < 500; ++turn) {
      auto ticket = admission.TryEnter();
      if (!ticket.ok()) continue;
      if (inside.fetch_add(1) >= kLimit) too_many = true;
      admitted.fetch_add(1);
      inside.fetch_sub(1);
    }
  });
  EXPECT_FALSE(too_many);
  EXPECT_GT(admitted.load(), 0);
  EXPECT_EQ(admission.in_flight(), 0);
}

}  // namespace
}  // namespace millrace::server
