#include "mps_runtime/base/memory_info.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::runtime {
namespace {

class MemoryInfoTest : public ::testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  int64_t Available() const { return AvailableMemory(folder_.path().string() + "/"); }

 private:
  const testing::TemporaryFolder folder_;
};

TEST_F(MemoryInfoTest, WithoutALimitItIsTheMachines) {
  const int64_t machine = Available();
  EXPECT_GT(machine, 1 << 20);
  Write("proc/self/cgroup", "0::/system.slice/millrace.service\n");
  EXPECT_EQ(Available(), machine);
  Write("sys/fs/cgroup/system.slice/millrace.service/memory.max", "max\n");
  EXPECT_EQ(Available(), machine);
}

TEST_F(MemoryInfoTest, TheTightestLimitOfItsGroupsHolds) {
  Write("proc/self/cgroup", "0::/system.slice/millrace.service\n");
  Write("sys/fs/cgroup/system.slice/millrace.service/memory.max", "900000\n");
  EXPECT_EQ(Available(), 900'000);
  Write("sys/fs/cgroup/system.slice/memory.max", "800000\n");
  EXPECT_EQ(Available(), 800'000);
}

TEST_F(MemoryInfoTest, TheGroupOfAContainerIsTheRoot) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "700000\n");
  EXPECT_EQ(Available(), 700'000);
}

}  // namespace
}  // namespace millrace::runtime
