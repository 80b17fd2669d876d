#include "server/metrics/process_stats.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <vector>

namespace millrace::server {
namespace {

TEST(ProcessStatsTest, AreThoseOfThisProcess) {
  const ProcessStats stats = ReadProcessStats();
  EXPECT_GT(stats.resident_bytes, 1e6);
  EXPECT_GT(stats.open_fds, 2);
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_LE(stats.start_time_seconds, now);
  EXPECT_GT(stats.start_time_seconds, now - 3600);
}

TEST(ProcessStatsTest, CountOpenFiles) {
  const double before = ReadProcessStats().open_fds;
  const int fd = open("/dev/null", O_RDONLY);
  EXPECT_EQ(ReadProcessStats().open_fds, before + 1);
  close(fd);
  EXPECT_EQ(ReadProcessStats().open_fds, before);
}

TEST(ProcessStatsTest, MemoryAndTimeGrowWithUse) {
  const ProcessStats before = ReadProcessStats();
  std::vector<char> memory(64 << 20, 1);               // touched
  asm volatile("" : : "r"(memory.data()) : "memory");  // or clang leaves the allocation out
  volatile double sink = 0;
  while (ReadProcessStats().cpu_seconds < before.cpu_seconds + 0.02) sink = sink + memory[1];
  EXPECT_GT(ReadProcessStats().resident_bytes, before.resident_bytes + (32 << 20));
}

}  // namespace
}  // namespace millrace::server
