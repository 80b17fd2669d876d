#include "server/control/pull_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <vector>

#include "server/scheduling/refusal.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

PullRequest RequestFor(const std::string& model) {
  PullRequest request;
  request.names = {"firefox/" + model};
  request.as = model;
  return request;
}

class PullQueueTest : public ::testing::Test {
 protected:
  // Adds a request whose outcome the future has.
  std::future<absl::Status> Add(const std::string& model, PullQueue::Ticket* ticket = nullptr) {
    auto outcome = std::make_shared<std::promise<absl::Status>>();
    const auto added = queue_.Add(RequestFor(model),
                                  [outcome](const absl::Status& end) { outcome->set_value(end); });
    EXPECT_TRUE(added.ok()) << added.status();
    if (ticket != nullptr) *ticket = added.value_or(0);
    return outcome->get_future();
  }

  absl::Status result_;       // the result of fetching
  std::promise<void> begun_;  // "slow" is fetched
  std::vector<std::string> loaded_;
  PullQueue queue_{[this](const PullRequest& request, const std::function<bool()>& stop,
                          const PullListener& listener) {
                     if (request.as != "slow") return result_;
                     listener({.file = "model.bin", .bytes = 5, .size = 10});
                     begun_.set_value();
                     while (!stop()) std::this_thread::yield();
                     return absl::CancelledError("the transfer was interrupted");
                   },
                   [this](std::string model, PullQueue::Done done) {
                     loaded_.push_back(std::move(model));
                     done(absl::OkStatus());
                   }};
};

TEST_F(PullQueueTest, LoadsWhatWasFetchedInTurn) {
  auto first = Add("a");
  auto second = Add("b");
  EXPECT_TRUE(first.get().ok());
  EXPECT_TRUE(second.get().ok());
  EXPECT_THAT(loaded_, ElementsAre("a", "b"));
}

TEST_F(PullQueueTest, LoadsNothingThatCouldNotBeFetched) {
  result_ = absl::NotFoundError("no such name");
  EXPECT_EQ(Add("a").get(), result_);
  EXPECT_TRUE(loaded_.empty());
}

TEST_F(PullQueueTest, InterruptsTheTransferOfACallerWhoLeft) {
  PullQueue::Ticket running = 0, waiting = 0;
  auto slow = Add("slow", &running);
  begun_.get_future().get();
  auto other = Add("other", &waiting);
  auto last = Add("last");
  queue_.Cancel(waiting);
  EXPECT_TRUE(absl::IsCancelled(other.get()));
  queue_.Cancel(running);
  EXPECT_TRUE(absl::IsCancelled(slow.get()));
  EXPECT_TRUE(last.get().ok());
  EXPECT_THAT(loaded_, ElementsAre("last"));
}

TEST_F(PullQueueTest, TellsWhatIsFetchedAndWhatWaits) {
  EXPECT_TRUE(queue_.Pulls().empty());
  PullQueue::Ticket running = 0;
  auto slow = Add("slow", &running);
  begun_.get_future().get();
  auto other = Add("other");
  const std::vector<PullView> pulls = queue_.Pulls();
  ASSERT_EQ(pulls.size(), 2);
  EXPECT_EQ(pulls[0].model, "slow");
  EXPECT_EQ(pulls[0].published, "firefox/slow");
  EXPECT_FALSE(pulls[0].waiting);
  EXPECT_EQ(pulls[0].progress.bytes, 5);
  EXPECT_EQ(pulls[0].progress.size, 10);
  EXPECT_EQ(pulls[1].model, "other");
  EXPECT_TRUE(pulls[1].waiting);
  EXPECT_EQ(pulls[1].progress.bytes, 0);
  queue_.Cancel(running);
  EXPECT_TRUE(absl::IsCancelled(slow.get()));
  EXPECT_TRUE(other.get().ok());
  queue_.Stop();
  EXPECT_TRUE(queue_.Pulls().empty());
}

TEST_F(PullQueueTest, RefusesMoreCallersThanMayWait) {
  auto slow = Add("slow");
  begun_.get_future().get();
  std::vector<std::future<absl::Status>> waiting;
  for (size_t i = 0; i < PullQueue::kMaxWaiting; ++i) waiting.push_back(Add("a"));
  const absl::Status refused =
      queue_.Add(RequestFor("a"), [](const absl::Status&) { FAIL(); }).status();
  EXPECT_EQ(RefusalOf(refused), Refusal::kTooMany);
  EXPECT_GT(RetryHint(refused).count(), 0);
  queue_.Stop();
  EXPECT_TRUE(absl::IsCancelled(slow.get()));
  for (auto& each : waiting) EXPECT_TRUE(absl::IsUnavailable(each.get()));
  EXPECT_TRUE(absl::IsUnavailable(
      queue_.Add(RequestFor("a"), [](const absl::Status&) { FAIL(); }).status()));
}

}  // namespace
}  // namespace millrace::server
