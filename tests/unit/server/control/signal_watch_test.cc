#include "server/control/signal_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

namespace millrace::server {
namespace {

// What the watch tells; the test's time limit bounds the waiting.
class Told {
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

TEST(SignalWatch, TellsOfEachStopWhateverThisThreadDoes) {
  Told told;
  const SignalWatch watch(told.Handlers());
  raise(SIGTERM);
  told.AwaitStops(1);
  EXPECT_EQ(told.last(), SIGTERM);
  raise(SIGINT);
  told.AwaitStops(2);
  EXPECT_EQ(told.last(), SIGINT);
}

TEST(SignalWatch, HangUpReloadsAndDoesNotEnd) {
  Told told;
  const SignalWatch watch(told.Handlers());
  raise(SIGHUP);
  raise(SIGHUP);
  told.AwaitReloads(2);
  EXPECT_EQ(told.stops(), 0);
}

TEST(SignalWatch, HangUpWithNothingToReloadIsIgnored) {
  Told told;
  const SignalWatch watch({.stop = told.Handlers().stop});
  raise(SIGHUP);
  raise(SIGTERM);
  told.AwaitStops(1);
}

TEST(SignalWatch, UserSignalsAreIgnored) {
  Told told;
  const SignalWatch watch(told.Handlers());
  raise(SIGUSR1);
  raise(SIGUSR2);
  raise(SIGTERM);
  told.AwaitStops(1);
  EXPECT_EQ(told.stops(), 1);
}

TEST(SignalWatch, WriteToAClientThatHungUpIsAnError) {
  Told told;
  const SignalWatch watch(told.Handlers());
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  EXPECT_EQ(write(ends[1], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[1]);
}

TEST(SignalWatch, GivesTheSignalsBackAtItsEnd) {
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
