#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "server/limits/key_limits.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/temporary_folder.h"

namespace millrace::server {
namespace {

using ::testing::HasSubstr;

class PolicyFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(file_, std::ios::binary) << text; }
  absl::StatusOr<std::unique_ptr<PolicyFile>> Open() {
    return PolicyFile::Open(file_, nullptr,
                            {.poll_interval = std::chrono::milliseconds(0), .clock = &clock_});
  }

  testing::FakeClock clock_;
  const testing::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "limits.toml";
};

constexpr char kOne[] = "default = \"a\"\n[tiers.a]\nrequests_per_minute = 1\n";

TEST_F(PolicyFileTest, AccountsAreOfKeys) {
  Write(kOne);
  const auto policy = Open();
  ASSERT_TRUE(policy.ok()) << policy.status();
  KeyLimits& limits = (*policy)->limits();
  EXPECT_TRUE(limits.AccountOf("ann")->Enter({}).ok());
  EXPECT_FALSE(limits.AccountOf("ann")->Enter({}).ok());
  EXPECT_TRUE(limits.AccountOf("bob")->Enter({}).ok());
  EXPECT_TRUE(limits.AccountOf("")->Enter({}).ok());
  EXPECT_FALSE(limits.AccountOf("")->Enter({}).ok());
  EXPECT_NE(limits.AccountOf("ann")->share().key, limits.AccountOf("bob")->share().key);
  const auto usage = limits.Usage();
  ASSERT_EQ(usage.size(), 3U);
  EXPECT_EQ(usage[0].key, "ann");
  EXPECT_EQ(usage[2].key, "");
}

TEST_F(PolicyFileTest, ChangeIsInForceAfterAReload) {
  Write(kOne);
  const auto policy = Open();
  ASSERT_TRUE(policy.ok());
  const auto ann = (*policy)->limits().AccountOf("ann");
  Write("default = \"b\"\n[tiers.b]\nweight = 3\n");
  EXPECT_TRUE((*policy)->Reload().ok());
  EXPECT_EQ(ann->share().weight, 3);
  EXPECT_EQ(ann->usage().tier, "b");
  EXPECT_EQ((*policy)->limits().AccountOf("bob")->share().weight, 3);
}

TEST_F(PolicyFileTest, BadFileKeepsThePolicyBefore) {
  Write(kOne);
  const auto policy = Open();
  ASSERT_TRUE(policy.ok());
  Write("default = \"a\"\n[tiers.a]\nrequests_per_minute = 0\n");
  EXPECT_EQ((*policy)->Reload().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ((*policy)->limits().AccountOf("ann")->usage().limits[0]->allowed, 1);
  std::filesystem::remove(file_);
  EXPECT_FALSE((*policy)->Reload().ok());
  EXPECT_EQ((*policy)->limits().AccountOf("bob")->usage().limits[0]->allowed, 1);
  Write(kOne);
  EXPECT_TRUE((*policy)->Reload().ok());
}

TEST_F(PolicyFileTest, FirstFileMustBeGood) {
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("cannot be read"));
  Write("");
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("tiers: is missing"));
  Write(kOne);
  std::filesystem::permissions(file_, std::filesystem::perms::others_write,
                               std::filesystem::perm_options::add);
  EXPECT_THAT(std::string(Open().status().message()), HasSubstr("everybody may write it"));
}

}  // namespace
}  // namespace millrace::server
