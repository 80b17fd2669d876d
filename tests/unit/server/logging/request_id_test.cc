#include "server/logging/request_id.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

namespace millrace::logging {
namespace {

TEST(RequestIdTest, SaneClientIdIsKept) {
  EXPECT_EQ(RequestIdFrom("abc-123"), "abc-123");
  EXPECT_EQ(RequestIdFrom(std::string(128, '~')), std::string(128, '~'));
}

TEST(RequestIdTest, OtherClientIdIsReplaced) {
  const std::string ids[] = {
      "", std::string(129, 'a'), "a b", "a\nb", "a\x7f", "caf\xc3\xa9", std::string("a\0b", 3)};
  for (const std::string& id : ids) {
    const std::string made = RequestIdFrom(id);
    EXPECT_EQ(made.size(), 16U);
    EXPECT_EQ(made.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
}

TEST(RequestIdTest, DistinctAcrossThreads) {
  constexpr int kThreads = 4;
  constexpr int kIds = 5000;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (auto& ids : made) {
    threads.emplace_back([&ids] {
      for (int i = 0; i < kIds; ++i) ids.push_back(NewRequestId());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::string> all;
  for (const auto& ids : made) all.insert(ids.begin(), ids.end());
  EXPECT_EQ(all.size(), size_t{kThreads} * kIds);
}

}  // namespace
}  // namespace millrace::logging
