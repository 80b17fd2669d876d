#include "server/limits/key_account.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "server/scheduling/refusal.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

class KeyAccountTest : public ::testing::Test {
 protected:
  std::string Message(const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    return std::string{status.message()};
  }
  static absl::Status Once(KeyAccount& account, const RequestCost& cost = {}) {
    absl::Status status = account.Enter(cost);
    if (status.ok()) account.Leave();
    return status;
  }

  testing::FakeClock clock_;
};

TEST_F(KeyAccountTest, WithoutLimitsNothingIsRefused) {
  KeyAccount account("ann", 1, {.name = "t"}, clock_);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(Once(account, {.characters = 1'000'000}).ok());
  EXPECT_EQ(account.rate_limit().policy, "");
  EXPECT_EQ(account.usage().requests, 1000U);
}

TEST_F(KeyAccountTest, RequestsBeyondTheLimitAreRefusedUntilTheirTimeHasCome) {
  KeyAccount account("ann", 1, {.name = "free", .requests_per_minute = 6}, clock_);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(Once(account).ok()) << i;
  const absl::Status refused = Once(account);
  EXPECT_EQ(Message(refused),
            "the API key 'ann' has used up the limit of 6 requests a minute (tier 'free')");
  EXPECT_EQ(RetryHint(refused), seconds(10));
  clock_.Advance(milliseconds(9'999));
  EXPECT_FALSE(Once(account).ok());
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(Once(account).ok());
  EXPECT_FALSE(Once(account).ok());
  clock_.Advance(minutes(10));  // saves up no more than a minute's
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(Once(account).ok()) << i;
  EXPECT_FALSE(Once(account).ok());
}

TEST_F(KeyAccountTest, CharactersAreChargedWhenARequestBegins) {
  KeyAccount account("", 1, {.name = "guest", .characters_per_minute = 600}, clock_);
  ASSERT_TRUE(Once(account, {.characters = 500}).ok());
  const absl::Status refused = Once(account, {.characters = 150});
  EXPECT_EQ(Message(refused),
            "callers without an API key have used up the limit of 600 characters a minute (tier "
            "'guest')");
  EXPECT_EQ(RetryHint(refused), seconds(5));
  EXPECT_TRUE(Once(account, {.characters = 100}).ok());
  EXPECT_TRUE(Once(account).ok());  // it has no text
}

// Otherwise it could never be spoken.
TEST_F(KeyAccountTest, TextLongerThanTheLimitMayBeginWithAWholeMinute) {
  KeyAccount account("ann", 1, {.name = "t", .characters_per_minute = 600}, clock_);
  ASSERT_TRUE(Once(account, {.characters = 1'200}).ok());
  const absl::Status refused = Once(account, {.characters = 1});
  EXPECT_EQ(RetryHint(refused), milliseconds(60'100));  // the excess is paid first
  clock_.Advance(milliseconds(60'100));
  EXPECT_TRUE(Once(account, {.characters = 1}).ok());
  EXPECT_FALSE(Once(account, {.characters = 1'200}).ok());
}

TEST_F(KeyAccountTest, AudioIsChargedWhileItIsMade) {
  KeyAccount account("ann", 1, {.name = "t", .audio_seconds_per_minute = 30}, clock_);
  const RequestCost speech{.characters = 10, .makes_audio = true};
  ASSERT_TRUE(account.Enter(speech).ok());
  account.AddAudio(29);
  ASSERT_TRUE(account.Enter(speech).ok());  // some is left
  account.AddAudio(21);
  const absl::Status refused = account.Enter(speech);
  EXPECT_THAT(Message(refused), HasSubstr("the limit of 30 seconds of audio a minute"));
  EXPECT_NEAR(static_cast<double>(RetryHint(refused).count()), 40'000, 10);
  EXPECT_TRUE(account.Enter({.characters = 10}).ok());  // a translation makes none
  clock_.Advance(milliseconds(40'010));
  EXPECT_TRUE(account.Enter(speech).ok());
  EXPECT_EQ(account.usage().audio_seconds, 50);
}

TEST_F(KeyAccountTest, RequestsAtOnceAreBounded) {
  KeyAccount account("ann", 1, {.name = "t", .concurrent_requests = 2}, clock_);
  ASSERT_TRUE(account.Enter({}).ok());
  ASSERT_TRUE(account.Enter({}).ok());
  const absl::Status refused = account.Enter({});
  EXPECT_THAT(Message(refused), HasSubstr("the limit of 2 requests at once"));
  EXPECT_EQ(RetryHint(refused), seconds(1));
  account.Leave();
  EXPECT_TRUE(account.Enter({}).ok());
  EXPECT_EQ(account.usage().in_flight, 2);
}

TEST_F(KeyAccountTest, LimitThatIsWaitedForLongestIsNamed) {
  KeyAccount account("ann", 1,
                     {.name = "t", .requests_per_minute = 60, .characters_per_minute = 60}, clock_);
  ASSERT_TRUE(Once(account, {.characters = 60}).ok());
  const absl::Status refused = Once(account, {.characters = 30});
  EXPECT_THAT(Message(refused), HasSubstr("60 characters a minute"));
  EXPECT_EQ(RetryHint(refused), seconds(30));
  // A refusal costs nothing.
  EXPECT_EQ(account.usage().limits[static_cast<size_t>(KeyLimit::kRequests)]->left, 59);
}

TEST_F(KeyAccountTest, RefundGivesBackWhatARequestCost) {
  KeyAccount account("ann", 1, {.name = "t", .requests_per_minute = 1, .characters_per_minute = 60},
                     clock_);
  ASSERT_TRUE(Once(account, {.characters = 60}).ok());
  account.Refund({.characters = 60});
  EXPECT_TRUE(Once(account, {.characters = 60}).ok());
  account.Refund({.characters = 60});
  account.Refund({.characters = 60});  // never more than the limit
  EXPECT_TRUE(Once(account, {.characters = 60}).ok());
  EXPECT_FALSE(Once(account).ok());
}

TEST_F(KeyAccountTest, ChangedTierKeepsWhatWasUsed) {
  KeyAccount account("ann", 1, {.name = "a", .requests_per_minute = 10}, clock_);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Once(account).ok());
  account.SetTier({.name = "b", .requests_per_minute = 100, .weight = 2});
  EXPECT_EQ(account.usage().limits[0]->left, 2);
  EXPECT_EQ(account.share().weight, 2);
  account.SetTier({.name = "c", .requests_per_minute = 1});
  EXPECT_EQ(account.usage().limits[0]->left, 1);
  account.SetTier({.name = "d"});
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(Once(account).ok());
  EXPECT_EQ(account.usage().requests, 16U);
}

TEST_F(KeyAccountTest, TellsItsLimitsAsHeaderFields) {
  KeyAccount account("ann", 1,
                     {.name = "t",
                      .requests_per_minute = 2,
                      .characters_per_minute = 600,
                      .audio_seconds_per_minute = 60,
                      .concurrent_requests = 3},
                     clock_);
  const RequestCost cost{.characters = 100, .makes_audio = true};
  ASSERT_TRUE(account.Enter(cost).ok());
  account.AddAudio(0.5);
  EXPECT_EQ(account.rate_limit().policy,
            "\"requests\";q=2;w=60, \"characters\";q=600;w=60;qu=\"characters\", "
            "\"audio-seconds\";q=60;w=60;qu=\"audio-seconds\", "
            "\"concurrent-requests\";q=3;qu=\"concurrent-requests\"");
  EXPECT_EQ(account.rate_limit().state,
            "\"requests\";r=1, \"characters\";r=500, \"audio-seconds\";r=60, "
            "\"concurrent-requests\";r=2");
  ASSERT_TRUE(account.Enter(cost).ok());
  const absl::Status refused = account.Enter(cost);
  EXPECT_THAT(account.rate_limit().state, HasSubstr("\"requests\";r=0;t=30"));
  EXPECT_EQ(RetryAfterSeconds(refused), 30);
}

TEST_F(KeyAccountTest, FarFromItsLimitsAKeyIsToldNowAndThen) {
  KeyAccount account("ann", 1, {.name = "t", .requests_per_minute = 60}, clock_);
  EXPECT_EQ(account.rate_limit_if_due().policy, "\"requests\";q=60;w=60");
  EXPECT_EQ(account.rate_limit_if_due().policy, "");
  EXPECT_EQ(account.rate_limit_if_due().state, "");
  clock_.Advance(kRateLimitInterval - milliseconds(1));
  EXPECT_EQ(account.rate_limit_if_due().state, "");
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(account.rate_limit_if_due().state, "\"requests\";r=60");
  EXPECT_EQ(account.rate_limit_if_due().state, "");
}

TEST_F(KeyAccountTest, NearALimitAKeyIsToldEachTime) {
  KeyAccount account(
      "ann", 1, {.name = "t", .requests_per_minute = 100, .characters_per_minute = 20}, clock_);
  account.rate_limit_if_due();
  ASSERT_TRUE(Once(account, {.characters = 18}).ok());
  EXPECT_EQ(account.rate_limit_if_due().state, "");
  ASSERT_TRUE(Once(account, {.characters = 1}).ok());
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(account.rate_limit_if_due().state, "\"requests\";r=98, \"characters\";r=1");
}

TEST_F(KeyAccountTest, NearTheLimitOfRequestsAtOnceAKeyIsToldEachTime) {
  KeyAccount account("ann", 1, {.name = "t", .concurrent_requests = 10}, clock_);
  account.rate_limit_if_due();
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(account.Enter({}).ok());
  EXPECT_EQ(account.rate_limit_if_due().state, "");
  ASSERT_TRUE(account.Enter({}).ok());
  EXPECT_EQ(account.rate_limit_if_due().state, "\"concurrent-requests\";r=0");
}

TEST_F(KeyAccountTest, WithoutLimitsThereIsNothingToTell) {
  KeyAccount account("ann", 1, {.name = "t"}, clock_);
  EXPECT_EQ(account.rate_limit_if_due().policy, "");
}

}  // namespace
}  // namespace millrace::server
