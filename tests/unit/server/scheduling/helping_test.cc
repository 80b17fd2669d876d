// Idle workers that help busy ones: the scheduler, its workers and their loops together.

#include <atomic>
#include <barrier>
#include <cstdint>
#include <latch>
#include <memory>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "models/kernels/parallel_for.h"
#include "server/scheduling/thread_executor.h"
#include "tests/fakes/fake_device.h"
#include "tests/unit/server/scheduling/fixture.h"

namespace millrace::server {
namespace {

using models::Request;
using testing::FakeReply;
using testing::ModelHooks;

// These tests hang until their time limit when nobody helps, or nobody is called back.
class HelpingTest : public ::testing::Test {
 protected:
  ~HelpingTest() override {
    if (executor_ == nullptr) return;
    scheduler_->Close();
    executor_->Join();
  }

  void Start(int workers, int cores) {
    scheduler_ = std::make_unique<Scheduler>(
        Scheduler::Options{.default_queue_size = 1000, .workers = workers, .cores = cores});
    executor_ = std::make_unique<ThreadExecutor>(workers, device_, *scheduler_);
    ASSERT_TRUE(executor_->Start({}).ok());
  }
  std::shared_ptr<ServedModel> MakeModel(const std::string& name, ModelHooks hooks) {
    return Serve(*scheduler_, metrics_, name, {.max_batch = 1}, std::move(hooks));
  }
  void Submit(const std::shared_ptr<ServedModel>& model, Reply& reply) {
    auto job =
        std::make_unique<Job>(models::Input(), TimePoint::max(), reply, model, Clock::Real());
    ASSERT_TRUE(scheduler_->Submit(job).ok());
  }

  testing::FakeDevice device_;
  Metrics metrics_{BuildInfo{}};
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<ThreadExecutor> executor_;
};

// Waits in a forward until so many threads could work on a loop: workers may still be on their way
// to the queues.
void AwaitWidth(int width) {
  while (kernels::ParallelWidth() < width) std::this_thread::yield();
}

TEST_F(HelpingTest, AllIdleWorkersHelpTheOneThatIsBusy) {
  constexpr int kWorkers = 8;
  Start(kWorkers, kWorkers);
  std::barrier all(kWorkers);
  const auto model =
      MakeModel("long", {.forward = [&](Request&) {
                  AwaitWidth(kWorkers);
                  for (int loop = 0; loop < 20; ++loop)
                    kernels::ParallelFor(kWorkers, [&](int64_t) { all.arrive_and_wait(); });
                }});
  FakeReply reply;
  Submit(model, reply);
  EXPECT_TRUE(reply.Wait().ok());
}

// The owner holds the first part, so that only the helper could begin the third. It is in the
// second when the job arrives.
TEST_F(HelpingTest, AJobTakesAHelperBackAfterItsPart) {
  Start(2, 2);
  std::latch helping(1);
  std::latch arrived(1);
  std::latch served(1);
  std::atomic<int> begun{0};
  const auto slow = MakeModel("long", {.forward = [&](Request&) {
                                const auto owner = std::this_thread::get_id();
                                AwaitWidth(2);
                                kernels::ParallelFor(100, [&](int64_t) {
                                  ++begun;
                                  if (std::this_thread::get_id() == owner) {
                                    served.wait();
                                  } else if (!helping.try_wait()) {
                                    helping.count_down();
                                    arrived.wait();
                                  }
                                });
                              }});
  int begun_before = 0;
  const auto quick = MakeModel("short", {.forward = [&](Request&) {
                                 begun_before = begun;
                                 served.count_down();
                               }});
  FakeReply slow_reply, quick_reply;
  Submit(slow, slow_reply);
  helping.wait();
  Submit(quick, quick_reply);
  arrived.count_down();
  EXPECT_TRUE(quick_reply.Wait().ok());
  EXPECT_LE(begun_before, 2);
  EXPECT_TRUE(slow_reply.Wait().ok());
  EXPECT_EQ(begun, 100);
}

TEST_F(HelpingTest, NoMoreThreadsComputeThanThereAreCores) {
  Start(/*workers=*/8, /*cores=*/3);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::barrier cores(3);
  const auto model =
      MakeModel("long", {.forward = [&](Request&) {
                  AwaitWidth(3);
                  kernels::ParallelFor(3, [&](int64_t) { cores.arrive_and_wait(); });
                  kernels::ParallelFor(300, [&](int64_t) {
                    const int now = ++running;
                    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
                    }
                    for (int i = 0; i < 20; ++i) std::this_thread::yield();
                    --running;
                  });
                }});
  FakeReply reply;
  Submit(model, reply);
  EXPECT_TRUE(reply.Wait().ok());
  EXPECT_LE(most, 3);
}

TEST_F(HelpingTest, WhereAllCoresAreBusyNobodyHelps) {
  Start(/*workers=*/4, /*cores=*/2);
  std::barrier both(2);
  std::set<std::thread::id> strangers[2];
  std::atomic<int> requests{0};
  const auto model = MakeModel("long", {.forward = [&](Request&) {
                                 const auto owner = std::this_thread::get_id();
                                 auto& mine = strangers[requests.fetch_add(1)];
                                 both.arrive_and_wait();
                                 kernels::ParallelFor(100, [&](int64_t) {
                                   for (int i = 0; i < 20; ++i) std::this_thread::yield();
                                   const auto self = std::this_thread::get_id();
                                   if (self != owner) mine.insert(self);
                                 });
                                 both.arrive_and_wait();
                               }});
  FakeReply one, two;
  Submit(model, one);
  Submit(model, two);
  EXPECT_TRUE(one.Wait().ok());
  EXPECT_TRUE(two.Wait().ok());
  EXPECT_TRUE(strangers[0].empty());
  EXPECT_TRUE(strangers[1].empty());
}

TEST_F(HelpingTest, WhereADeviceComputesWorkersRunTheirOwnLoops) {
  device_.computes_on_workers = false;
  Start(2, 2);
  const auto model =
      MakeModel("m", {.forward = [](Request&) { EXPECT_EQ(kernels::ParallelWidth(), 1); }});
  for (int i = 0; i < 20; ++i) {
    FakeReply reply;
    Submit(model, reply);
    EXPECT_TRUE(reply.Wait().ok());
  }
}

TEST_F(HelpingTest, HelpersEndWithTheScheduler) {
  Start(4, 4);
  std::latch closed(1);
  std::barrier all(5);
  const auto model = MakeModel("long", {.forward = [&](Request&) {
                                 AwaitWidth(4);
                                 kernels::ParallelFor(4, [&](int64_t) { all.arrive_and_wait(); });
                                 closed.wait();
                                 kernels::ParallelFor(4, [](int64_t) {});
                               }});
  FakeReply reply;
  Submit(model, reply);
  all.arrive_and_wait();
  scheduler_->Close();
  closed.count_down();
  executor_->Join();
}

// Requests with loops of all lengths come and go, so that workers change all the time between work
// of their own and that of others.
TEST_F(HelpingTest, EachPartRunsOnceUnderLoad) {
  constexpr int kRequests = 400;
  Start(/*workers=*/8, /*cores=*/6);
  std::atomic<int> wrong{0};
  const auto model = MakeModel(
      "m", {.forward = [&](Request&) {
        for (int64_t parts = 1; parts < 30; ++parts) {
          std::vector<int> runs(static_cast<size_t>(parts));
          kernels::ParallelFor(parts, [&](int64_t part) { ++runs[static_cast<size_t>(part)]; });
          for (const int run : runs) wrong += run != 1;
        }
      }});
  std::vector<FakeReply> replies(kRequests);
  for (int i = 0; i < kRequests; ++i) {
    Submit(model, replies[static_cast<size_t>(i)]);
    // Now and then all workers are idle.
    if (i % 8 == 0) {
      EXPECT_TRUE(replies[static_cast<size_t>(i)].Wait().ok());
    }
  }
  for (FakeReply& reply : replies) EXPECT_TRUE(reply.Wait().ok());
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace millrace::server
