#include "mps_runtime/base/cpu_info.h"

#include <gtest/gtest.h>
#ifdef __linux__
#include <sched.h>
#endif

#include <filesystem>
#include <fstream>
#include <thread>

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;

class CpuInfoTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override { fs::remove_all(root_); }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::string root() const { return root_.string() + "/"; }

 private:
  const fs::path root_ = fs::path(::testing::TempDir()) /
                         ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

const int kAffinity = static_cast<int>(std::thread::hardware_concurrency());

TEST_F(CpuInfoTest, WithoutControlGroupsTheAffinityDecides) {
  EXPECT_EQ(AvailableCores(root()), kAffinity);
}

TEST_F(CpuInfoTest, NoQuotaMeansTheAffinity) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(AvailableCores(root()), kAffinity);
}

TEST_F(CpuInfoTest, QuotaOfTheOwnGroupIsRoundedUp) {
  Write("proc/self/cgroup", "1:cpuset:/old\n0::/system.slice/millrace.service\n");
  Write("sys/fs/cgroup/system.slice/millrace.service/cpu.max", "50000 100000\n");
  EXPECT_EQ(AvailableCores(root()), 1);
}

TEST_F(CpuInfoTest, QuotaOfAGroupAboveHoldsToo) {
  Write("proc/self/cgroup", "0::/pod/container\n");
  Write("sys/fs/cgroup/pod/cpu.max", "100000 100000\n");
  Write("sys/fs/cgroup/pod/container/cpu.max", "max 100000\n");
  EXPECT_EQ(AvailableCores(root()), 1);
}

TEST_F(CpuInfoTest, QuotaOfTheRootGroupHoldsInAContainer) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "100000 100000\n");
  EXPECT_EQ(AvailableCores(root()), 1);
}

TEST_F(CpuInfoTest, LargeQuotaDoesNotAddCores) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/cpu.max", "99900000 100000\n");
  EXPECT_EQ(AvailableCores(root()), kAffinity);
}

#ifdef __linux__
TEST_F(CpuInfoTest, CoresThatThisProcessMayNotUseDoNotCount) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  EXPECT_EQ(AvailableCores(root()), 1);
  sched_setaffinity(0, sizeof(before), &before);
}
#endif

#ifndef __APPLE__
TEST_F(CpuInfoTest, ReadsTheModelName) {
  Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 9 GHz\nflags\t\t: fpu\n");
  EXPECT_EQ(CpuModelName(root()), "Fast CPU @ 9 GHz");
}
#endif

TEST_F(CpuInfoTest, FallsBackOnTheArchitecture) { EXPECT_FALSE(CpuModelName(root()).empty()); }

}  // namespace
}  // namespace millrace::runtime
