#include "server/control/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>
#include <utility>

namespace millrace::server {
namespace {

// The signals that the watch reported. The test's time limit bounds the waiting.
class RecordedSignals {
 public:
  SignalWatch::Handlers Handlers() {
    return {.stop =
                [this](int signal) {
                  last_ = signal;
                  ++stops_;
                },
            .reload = [this] { ++reloads_; }};
  }
  void AwaitStops(int count) const {
    while (stops_ < count) std::this_thread::yield();
  }
  void AwaitReloads(int count) const {
    while (reloads_ < count) std::this_thread::yield();
  }
  int last() const { return last_; }
  int stops() const { return stops_; }

 private:
  std::atomic<int> last_{0};
  std::atomic<int> stops_{0};
  std::atomic<int> reloads_{0};
};

TEST(SignalWatchTest, ReportsEachStopWhateverThisThreadDoes) {
  RecordedSignals signals;
  const SignalWatch watch(signals.Handlers());
  raise(SIGTERM);
  signals.AwaitStops(1);
  EXPECT_EQ(signals.last(), SIGTERM);
  raise(SIGINT);
  signals.AwaitStops(2);
  EXPECT_EQ(signals.last(), SIGINT);
}

TEST(SignalWatchTest, HangUpReloadsAndDoesNotEnd) {
  RecordedSignals signals;
  const SignalWatch watch(signals.Handlers());
  raise(SIGHUP);
  raise(SIGHUP);
  signals.AwaitReloads(2);
  EXPECT_EQ(signals.stops(), 0);
}

TEST(SignalWatchTest, HangUpWithNothingToReloadIsIgnored) {
  RecordedSignals signals;
  const SignalWatch watch({.stop = signals.Handlers().stop});
  raise(SIGHUP);
  raise(SIGTERM);
  signals.AwaitStops(1);
}

TEST(SignalWatchTest, UserSignalsChangeTheLogAndDoNotEnd) {
  RecordedSignals signals;
  SignalWatch::Handlers handlers = signals.Handlers();
  std::atomic<int> more{0};
  std::atomic<int> usual{0};
  handlers.log_details = [&](bool details) { ++(details ? more : usual); };
  const SignalWatch watch(std::move(handlers));
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGUSR1);
  raise(SIGTERM);
  signals.AwaitStops(1);
  EXPECT_EQ(signals.stops(), 1);
  EXPECT_EQ(more, 2);
  EXPECT_EQ(usual, 1);
}

TEST(SignalWatchTest, UserSignalsThatNobodyWantsAreIgnored) {
  RecordedSignals signals;
  const SignalWatch watch(signals.Handlers());
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGTERM);
  signals.AwaitStops(1);
  EXPECT_EQ(signals.stops(), 1);
}

TEST(SignalWatchTest, WriteToAClientThatHungUpIsAnError) {
  RecordedSignals signals;
  const SignalWatch watch(signals.Handlers());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(SignalWatchTest, GivesTheSignalsBackAtItsEnd) {
  {
    const SignalWatch watch({.stop = [](int) {}});
  }
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    struct sigaction now = {};
    sigaction(signal, nullptr, &now);
    EXPECT_EQ(now.sa_handler, SIG_DFL);
  }
}

}  // namespace
}  // namespace millrace::server
