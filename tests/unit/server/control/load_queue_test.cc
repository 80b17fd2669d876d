#include "server/control/load_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "server/control/main_loop.h"
#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// This thread is the main one.
class LoadQueueTest : public ::testing::Test {
 protected:
  ~LoadQueueTest() override { loop_.CloseTasks(); }

  LoadQueue::Ticket Add(const std::string& model) {
    const auto ticket = queue_.Add(model, [this, model](const absl::Status& status) {
      ended_.push_back(model + " " + absl::StatusCodeToString(status.code()));
    });
    EXPECT_TRUE(ticket.ok()) << ticket.status();
    return ticket.value_or(0);
  }
  // Runs the loads that wait, and those that they lead to.
  void RunLoads() {
    loop_.Post([this] {
      queue_.Add("last", [this](const auto&) { loop_.Stop(); }).status().IgnoreError();
    });
    loop_.Run();
  }

  MainLoop loop_;
  std::vector<std::string> loaded_;
  std::vector<std::string> ended_;
  std::function<void()> during_load_ = [] {};
  int too_many_ = 0;
  LoadQueue queue_{loop_,
                   [this](std::string_view model) {
                     during_load_();
                     if (model != "last") loaded_.emplace_back(model);
                     return model == "bad" ? absl::InternalError("broken") : absl::OkStatus();
                   },
                   [this] { ++too_many_; }};
};

TEST_F(LoadQueueTest, LoadsInOrderAndTellsEachCaller) {
  Add("a");
  Add("bad");
  Add("b");
  RunLoads();
  EXPECT_THAT(loaded_, ElementsAre("a", "bad", "b"));
  EXPECT_THAT(ended_, ElementsAre("a OK", "bad INTERNAL", "b OK"));
}

TEST_F(LoadQueueTest, CallersOfAModelThatWaitsShareItsLoad) {
  Add("a");
  Add("b");
  Add("a");
  Add("a");
  RunLoads();
  EXPECT_THAT(loaded_, ElementsAre("a", "b"));
  EXPECT_THAT(ended_, ElementsAre("a OK", "a OK", "a OK", "b OK"));
}

// The files may have changed since that load began.
TEST_F(LoadQueueTest, CallerThatComesDuringALoadGetsOneOfItsOwn) {
  Add("a");
  bool came = false;
  during_load_ = [&] {
    if (!std::exchange(came, true)) Add("a");
  };
  RunLoads();
  EXPECT_THAT(loaded_, ElementsAre("a", "a"));
}

TEST_F(LoadQueueTest, LoadThatNobodyWaitsForIsNotRun) {
  std::vector<LoadQueue::Ticket> tickets;
  for (int i = 0; i < 10; ++i) tickets.push_back(Add("a"));
  const auto other = Add("b");
  Add("b");
  for (const LoadQueue::Ticket ticket : tickets) queue_.Cancel(ticket);
  queue_.Cancel(other);
  queue_.Cancel(other);  // it has been told
  EXPECT_EQ(ended_.size(), 11U);
  EXPECT_EQ(ended_.front(), "a CANCELLED");
  RunLoads();
  EXPECT_THAT(loaded_, ElementsAre("b"));
  EXPECT_EQ(ended_.back(), "b OK");
}

TEST_F(LoadQueueTest, CancelOfALoadThatRunsChangesNothing) {
  const auto ticket = Add("a");
  during_load_ = [&] { queue_.Cancel(ticket); };
  RunLoads();
  EXPECT_THAT(ended_, ElementsAre("a OK"));
}

TEST_F(LoadQueueTest, CallersAreBounded) {
  std::vector<LoadQueue::Ticket> tickets;
  for (size_t i = 0; i < LoadQueue::kMaxWaiting; ++i)
    tickets.push_back(Add(i % 2 == 0 ? "a" : "m" + std::to_string(i)));
  const auto refused = queue_.Add("a", [](const auto&) { ADD_FAILURE() << "told"; });
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("32 calls wait"));
  EXPECT_EQ(RefusalOf(refused.status()), Refusal::kTooMany);
  EXPECT_GT(RetryHint(refused.status()).count(), 0);
  EXPECT_EQ(too_many_, 1);
  queue_.Cancel(tickets.back());
  Add("b");
}

TEST_F(LoadQueueTest, WhoWaitsAtTheEndIsTold) {
  Add("a");
  Add("b");
  loop_.CloseTasks();
  EXPECT_THAT(ended_, ElementsAre("a UNAVAILABLE", "b UNAVAILABLE"));
  Add("c");
  EXPECT_EQ(ended_.back(), "c UNAVAILABLE");
  EXPECT_TRUE(loaded_.empty());
}

}  // namespace
}  // namespace millrace::server
