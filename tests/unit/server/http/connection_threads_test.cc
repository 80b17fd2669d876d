#include "server/http/connection_threads.h"

#include <atomic>
#include <future>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "gtest/gtest.h"

namespace millrace {
namespace {

// A connection that stays open until the test lets it go.
struct Held {
  std::promise<void> started;
  std::promise<void> release;
  std::function<void()> Body() {
    return [this] {
      started.set_value();
      release.get_future().wait();
    };
  }
};

TEST(ConnectionThreads, ConnectionsRunAtOnce) {
  ConnectionGate gate(2);
  ConnectionThreads threads(gate);
  Held first;
  Held second;
  threads.enqueue(first.Body());
  threads.enqueue(second.Body());
  first.started.get_future().wait();
  second.started.get_future().wait();
  first.release.set_value();
  second.release.set_value();
  threads.shutdown();
}

TEST(ConnectionThreads, OneOverTheLimitWaitsForAPlace) {
  ConnectionGate gate(1);
  ConnectionThreads threads(gate);
  Held first;
  threads.enqueue(first.Body());
  first.started.get_future().wait();
  std::atomic<bool> released{false};
  std::atomic<bool> ran_after_release{false};
  std::thread accepting([&] { threads.enqueue([&] { ran_after_release = released.load(); }); });
  released = true;
  first.release.set_value();
  accepting.join();
  threads.shutdown();
  EXPECT_TRUE(ran_after_release);
}

TEST(ConnectionThreads, CloseFreesAWaitingAccept) {
  ConnectionGate gate(1);
  ConnectionThreads threads(gate);
  Held first;
  threads.enqueue(first.Body());
  std::atomic<bool> ran{false};
  std::thread accepting([&] { threads.enqueue([&] { ran = true; }); });
  gate.Close();
  accepting.join();  // while the first is still open
  first.release.set_value();
  threads.shutdown();
  EXPECT_TRUE(ran) << "what was accepted must be run, for its socket to be closed";
}

TEST(ConnectionThreads, ThreadsAreReusedAndBounded) {
  constexpr int kMax = 3;
  ConnectionGate gate(kMax);
  ConnectionThreads threads(gate);
  Mutex mu;
  std::set<std::thread::id> seen;
  for (int i = 0; i < 300; ++i) {
    threads.enqueue([&] {
      MutexLock lock(mu);
      seen.insert(std::this_thread::get_id());
    });
  }
  threads.shutdown();
  EXPECT_LE(seen.size(), size_t{kMax});
}

// Starts threads until `left` is used up, then fails as the system does.
ConnectionThreads::Spawn Limited(int& left) {
  return [&left](std::function<void()> body) {
    if (left-- <= 0)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(body));
  };
}

TEST(ConnectionThreads, WithoutAnyThreadTheAcceptingOneServes) {
  ConnectionGate gate(2);
  int left = 0;
  ConnectionThreads threads(
      gate, [] {}, Limited(left));
  std::thread::id served;
  threads.enqueue([&] { served = std::this_thread::get_id(); });
  EXPECT_EQ(served, std::this_thread::get_id());
  threads.enqueue([] {});
  threads.enqueue([] {});  // the gate counts what was served here too
  threads.shutdown();
}

TEST(ConnectionThreads, WithoutAFurtherThreadAConnectionWaits) {
  ConnectionGate gate(2);
  int left = 1;
  ConnectionThreads threads(
      gate, [] {}, Limited(left));
  Held first;
  threads.enqueue(first.Body());
  first.started.get_future().wait();
  std::thread::id served;
  threads.enqueue([&] { served = std::this_thread::get_id(); });
  first.release.set_value();
  threads.shutdown();
  EXPECT_NE(served, std::thread::id());
  EXPECT_NE(served, std::this_thread::get_id());
}

TEST(ConnectionThreads, TellsThatNoFurtherConnectionComesBeforeItWaits) {
  ConnectionGate gate(1);
  Held held;
  ConnectionThreads threads(gate, [&] { held.release.set_value(); });
  threads.enqueue(held.Body());
  threads.shutdown();
}

}  // namespace
}  // namespace millrace
