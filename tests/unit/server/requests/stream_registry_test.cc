#include "server/requests/stream_registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using std::chrono::seconds;
using testing::FakeClock;

class Stream final : public StallingStream {
 public:
  TimePoint waiting_since() const override { return since; }
  void Abort() override { ++aborts; }

  std::atomic<TimePoint> since{TimePoint::max()};
  std::atomic<int> aborts{0};
};

class StreamRegistryTest : public ::testing::Test {
 protected:
  FakeClock clock_;
  StreamRegistry registry_{seconds(30)};
};

TEST_F(StreamRegistryTest, AbortsAClientThatTakesNothing) {
  Stream stalled, reading, idle;
  for (Stream* stream : {&stalled, &reading, &idle}) registry_.Add(*stream);
  stalled.since = clock_.Now();
  clock_.Advance(seconds(15));
  reading.since = clock_.Now();
  clock_.Advance(seconds(15));
  EXPECT_EQ(registry_.AbortStalled(clock_.Now()), 1);
  EXPECT_EQ(stalled.aborts, 1);
  EXPECT_EQ(reading.aborts, 0);
  EXPECT_EQ(idle.aborts, 0);  // nothing waits for it, however long
  for (Stream* stream : {&stalled, &reading, &idle}) registry_.Remove(*stream);
}

TEST_F(StreamRegistryTest, WaitsTheWholeTimeout) {
  Stream stream;
  registry_.Add(stream);
  stream.since = clock_.Now();
  clock_.Advance(seconds(30) - std::chrono::nanoseconds(1));
  EXPECT_EQ(registry_.AbortStalled(clock_.Now()), 0);
  clock_.Advance(std::chrono::nanoseconds(1));
  EXPECT_EQ(registry_.AbortStalled(clock_.Now()), 1);
  registry_.Remove(stream);
}

TEST_F(StreamRegistryTest, DoesNotTouchARemovedStream) {
  Stream stream;
  registry_.Add(stream);
  stream.since = clock_.Now();
  registry_.Remove(stream);
  clock_.Advance(seconds(100));
  EXPECT_EQ(registry_.AbortStalled(clock_.Now()), 0);
  EXPECT_EQ(stream.aborts, 0);
}

// Streams end while the main thread looks at all of them.
TEST_F(StreamRegistryTest, StreamsComeAndGoWhileItLooks) {
  constexpr int kThreads = 16;
  std::atomic<int> running{kThreads};
  std::barrier start(kThreads + 1);
  std::vector<JoiningThread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      for (int turn = 0; turn < 200; ++turn) {
        Stream stream;
        stream.since = TimePoint{};
        registry_.Add(stream);
        std::this_thread::yield();
        registry_.Remove(stream);
      }
      --running;
    });
  }
  start.arrive_and_wait();
  while (running.load() > 0) registry_.AbortStalled(clock_.Now());
}

}  // namespace
}  // namespace millrace::server
