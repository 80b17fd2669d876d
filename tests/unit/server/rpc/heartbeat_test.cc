#include "server/rpc/heartbeat.h"

#include <gtest/gtest.h>

#include <chrono>

namespace millrace::server {
namespace {

using std::chrono::seconds;

TEST(HeartbeatTest, TellsForHowLongAThreadHasNotComeRound) {
  Mailbox mailbox;
  int posted = 0;
  Heartbeat heartbeat([&](Mail& mail) {
    ++posted;
    mailbox.Post(mail);
  });
  TimePoint now{std::chrono::hours(1)};
  EXPECT_EQ(heartbeat.Check(now), Duration::zero());
  // The thread is busy: it is asked once.
  for (int second = 1; second <= 3; ++second) {
    now += seconds(1);
    EXPECT_EQ(heartbeat.Check(now), seconds(second));
  }
  EXPECT_EQ(posted, 1);
  mailbox.DeliverAll();
  now += seconds(1);
  EXPECT_EQ(heartbeat.Check(now), Duration::zero());
  EXPECT_EQ(posted, 2);
  now += seconds(2);
  EXPECT_EQ(heartbeat.Check(now), seconds(2));
  mailbox.DeliverAll();
}

}  // namespace
}  // namespace millrace::server
