#include "server/http/request_threads.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>
#include <semaphore>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace millrace {
namespace {

std::unique_ptr<Connection> AnyConnection() {
  return std::make_unique<Connection>(FileDescriptor(open("/dev/null", O_RDONLY)));
}

void Drop(std::unique_ptr<Connection>, Connection::Fate) {}

// Serves nothing until it is let go.
class Held {
 public:
  RequestThreads::Serve Body() {
    return [this](Connection&) {
      ++started_;
      entered_.release();
      release_.acquire();
      return Connection::Fate::kClose;
    };
  }
  void AwaitOne() { entered_.acquire(); }
  void Release(int count) { release_.release(count); }
  int started() const { return started_; }

 private:
  std::atomic<int> started_{0};
  std::counting_semaphore<> entered_{0};
  std::counting_semaphore<> release_{0};
};

bool Submit(RequestThreads& threads) {
  auto connection = AnyConnection();
  const bool taken = threads.Submit(connection);
  EXPECT_EQ(taken, connection == nullptr);
  return taken;
}

TEST(RequestThreadsTest, RequestsRunAtOnce) {
  Held held;
  RequestThreads threads(2, 0, held.Body(), Drop);
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  EXPECT_TRUE(Submit(threads));
  held.AwaitOne();
  held.AwaitOne();
  held.Release(2);
}

TEST(RequestThreadsTest, AsManyWaitAsMay) {
  Held held;
  RequestThreads threads(1, 2, held.Body(), Drop);
  ASSERT_TRUE(threads.Start().ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Submit(threads));
  EXPECT_FALSE(Submit(threads));
  held.AwaitOne();
  held.Release(1);
  held.AwaitOne();
  EXPECT_TRUE(Submit(threads));  // a place is free again
  held.Release(3);
  held.AwaitOne();
  held.AwaitOne();
}

TEST(RequestThreadsTest, AConnectionComesBackOnceItsPlaceIsFree) {
  RequestThreads* again = nullptr;
  std::atomic<int> left{100};
  std::binary_semaphore done(0);
  RequestThreads threads(
      1, 0, [](Connection&) { return Connection::Fate::kKeep; },
      [&](std::unique_ptr<Connection> connection, Connection::Fate) {
        EXPECT_TRUE(--left == 0 || again->Submit(connection));
        if (left == 0) done.release();
      });
  again = &threads;
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  done.acquire();
}

TEST(RequestThreadsTest, AThreadServesWhatAConnectionAsksAtOnce) {
  std::atomic<int> served{0};
  std::atomic<int> left{3};
  std::promise<Connection::Fate> returned;
  RequestThreads threads(
      2, 0,
      [&](Connection&) {
        ++served;
        return Connection::Fate::kKeep;
      },
      [&](std::unique_ptr<Connection>, Connection::Fate fate) { returned.set_value(fate); });
  threads.ServeOnWith([&](Connection&) {
    return left-- > 0 ? RequestThreads::Next::kRequest : RequestThreads::Next::kGone;
  });
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  EXPECT_EQ(returned.get_future().get(), Connection::Fate::kClose);
  EXPECT_EQ(served, 4);
}

TEST(RequestThreadsTest, AConnectionThatAsksNothingComesBack) {
  std::promise<Connection::Fate> returned;
  RequestThreads threads(
      2, 0, [](Connection&) { return Connection::Fate::kKeep; },
      [&](std::unique_ptr<Connection>, Connection::Fate fate) { returned.set_value(fate); });
  threads.ServeOnWith([](Connection&) { return RequestThreads::Next::kNothing; });
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  EXPECT_EQ(returned.get_future().get(), Connection::Fate::kKeep);
}

// One that waits for its next request takes no place, and leaves threads for others.
TEST(RequestThreadsTest, ThreadsThatServeOnHoldNobodyUp) {
  std::counting_semaphore<> awaits(0), go_on(0), served(0);
  RequestThreads threads(
      2, 0,
      [&](Connection&) {
        served.release();
        return Connection::Fate::kKeep;
      },
      Drop);
  threads.ServeOnWith([&](Connection&) {
    awaits.release();
    go_on.acquire();
    return RequestThreads::Next::kNothing;
  });
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  served.acquire();
  awaits.acquire();
  for (int i = 0; i < 20; ++i) {
    // At most half of the threads serve on, so that the other one is free again.
    auto connection = AnyConnection();
    while (!threads.Submit(connection)) std::this_thread::yield();
    served.acquire();
  }
  EXPECT_FALSE(awaits.try_acquire());
  go_on.release();
}

TEST(RequestThreadsTest, StopDropsWhatWaits) {
  Held held;
  RequestThreads threads(1, 1, held.Body(), Drop);
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  held.AwaitOne();
  EXPECT_TRUE(Submit(threads));
  auto stopped = std::async(std::launch::async, [&] { threads.Stop(); });
  held.Release(2);
  stopped.wait();
  EXPECT_LE(held.started(), 2);
  EXPECT_FALSE(Submit(threads));
}

TEST(RequestThreadsTest, ThreadsAreReusedAndBounded) {
  Mutex mu;
  std::set<std::thread::id> seen;
  std::counting_semaphore<> served(0);
  RequestThreads threads(
      3, 1000,
      [&](Connection&) {
        {
          MutexLock lock(mu);
          seen.insert(std::this_thread::get_id());
        }
        served.release();
        return Connection::Fate::kClose;
      },
      Drop);
  ASSERT_TRUE(threads.Start().ok());
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(Submit(threads));
  for (int i = 0; i < 300; ++i) served.acquire();
  threads.Stop();
  EXPECT_LE(seen.size(), size_t{3});
}

// Starts threads until `left` is used up, then fails as the system does.
RequestThreads::Spawn Limited(int& left) {
  return [&left](std::function<void()> body) {
    if (left-- <= 0)
      throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
    return std::thread(std::move(body));
  };
}

TEST(RequestThreadsTest, WithoutAnyThreadThereIsNoStart) {
  int left = 0;
  Held held;
  RequestThreads threads(2, 2, held.Body(), Drop, Limited(left));
  EXPECT_EQ(threads.Start().code(), absl::StatusCode::kUnavailable);
}

TEST(RequestThreadsTest, WithoutAFurtherThreadARequestWaits) {
  Held held;
  int left = 1;
  RequestThreads threads(2, 2, held.Body(), Drop, Limited(left));
  ASSERT_TRUE(threads.Start().ok());
  EXPECT_TRUE(Submit(threads));
  EXPECT_TRUE(Submit(threads));
  held.AwaitOne();
  held.Release(1);
  held.AwaitOne();  // by the same thread
  held.Release(1);
}

}  // namespace
}  // namespace millrace
