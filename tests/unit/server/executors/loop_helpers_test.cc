#include "server/executors/loop_helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace millrace::server {
namespace {

TEST(LoopHelpersTest, HelpAWorkerWhileAProcessorIsFree) {
  LoopHelpers helpers(/*workers=*/2, /*cores=*/2);
  SharedLoop* const loop = helpers.loops(0);
  helpers.BeginStep();
  for (int round = 0; round < 20; ++round) {
    // Each of the two parts ends only when the other has begun.
    std::atomic<int> begun{0};
    loop->Run(2, kernels::LoopBody([&](int64_t) {
                ++begun;
                while (begun < 2) std::this_thread::yield();
              }));
    EXPECT_EQ(begun, 2);
  }
  helpers.EndStep();
}

TEST(LoopHelpersTest, DoNotHelpWhileAllProcessorsHaveAWorker) {
  LoopHelpers helpers(/*workers=*/2, /*cores=*/2);
  helpers.BeginStep();
  helpers.BeginStep();
  EXPECT_EQ(helpers.loops(0)->Width(), 1);
  const std::thread::id self = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  helpers.loops(0)->Run(100, kernels::LoopBody([&](int64_t) {
                          if (std::this_thread::get_id() != self) ++elsewhere;
                        }));
  EXPECT_EQ(elsewhere, 0);
  helpers.EndStep();
  EXPECT_EQ(helpers.loops(0)->Width(), 2);
  helpers.EndStep();
}

}  // namespace
}  // namespace millrace::server
