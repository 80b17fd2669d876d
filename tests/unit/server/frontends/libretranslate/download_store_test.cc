#include "server/frontends/libretranslate/download_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_clock.h"

namespace millrace::server {
namespace {

using ::testing::MatchesRegex;

class DownloadStoreTest : public ::testing::Test {
 protected:
  std::string Add(const std::string& bytes) { return store_.Add({"a.txt", "text", bytes}, ".txt"); }
  bool Has(const std::string& name) { return store_.Find(name) != nullptr; }

  testing::FakeClock clock_;
  DownloadStore store_{clock_, {.files = 3, .bytes = 10, .time = std::chrono::seconds(60)}};
};

TEST_F(DownloadStoreTest, FindsAFileByItsName) {
  const std::string name = Add("one");
  EXPECT_THAT(name, MatchesRegex("[0-9a-f]{32}\\.txt"));
  const std::string other = Add("two");
  EXPECT_NE(name, other);
  EXPECT_EQ(store_.Find(name)->bytes, "one");
  EXPECT_EQ(store_.Find(other)->bytes, "two");
  EXPECT_FALSE(Has(""));
  EXPECT_FALSE(Has("a.txt"));
}

TEST_F(DownloadStoreTest, ForgetsAFileAfterItsTime) {
  const std::string first = Add("one");
  clock_.Advance(std::chrono::seconds(30));
  const std::string second = Add("two");
  clock_.Advance(std::chrono::seconds(29));
  EXPECT_TRUE(Has(first));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_FALSE(Has(first));
  EXPECT_TRUE(Has(second));
}

TEST_F(DownloadStoreTest, TheOldestFilesGiveWay) {
  const std::string first = Add("1");
  const std::string second = Add("22");
  const std::string third = Add("333");
  const std::string fourth = Add("4444");
  EXPECT_FALSE(Has(first));
  EXPECT_TRUE(Has(second));
  const std::string fifth = Add("55555");
  EXPECT_FALSE(Has(second));
  EXPECT_FALSE(Has(third));
  EXPECT_TRUE(Has(fourth));
  const std::string large = Add("larger than all");
  EXPECT_FALSE(Has(fifth));
  EXPECT_TRUE(Has(large));
}

TEST_F(DownloadStoreTest, AFileThatIsBeingSentStays) {
  const auto sent = store_.Find(Add("one"));
  clock_.Advance(std::chrono::seconds(60));
  Add("two");
  EXPECT_EQ(sent->bytes, "one");
}

}  // namespace
}  // namespace millrace::server
