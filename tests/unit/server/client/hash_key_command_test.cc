#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <string>

#include "server/security/api_key_store.h"
#include "tests/unit/server/client/client_fixture.h"

namespace millrace {
namespace {

using HashKeyCommandTest = ClientTest;

TEST_F(HashKeyCommandTest, HashKeyMakesALineThatTheStoreTakes) {
  HashKeyCommand command;
  command.name = "ann";
  command.role = "admin";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitOk);
  const std::string key = err_.substr(err_.rfind(' ') + 1, err_.size() - err_.rfind(' ') - 2);
  std::ofstream(folder_ / "keys") << out_;
  const auto store =
      ApiKeyStore::Open(folder_ / "keys", {.poll_interval = std::chrono::milliseconds(0)});
  ASSERT_TRUE(store.ok()) << store.status();
  ASSERT_TRUE((*store)->Authenticate(key)) << err_;
  EXPECT_EQ((*store)->Authenticate(key)->role, Role::kAdmin);
  EXPECT_EQ(out_.find(key), std::string::npos);
  command.name = "a:b";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitUsage);
}

TEST_F(HashKeyCommandTest, HashKeyAppendsItsLineAndShowsTheKeyThatItMade) {
  HashKeyCommand command;
  command.name = "ann";
  command.append = folder_ / "keys";
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitOk) << err_;
  EXPECT_EQ(out_, "");
  const std::string key = err_.substr(err_.rfind(' ') + 1, err_.size() - err_.rfind(' ') - 2);
  const auto store =
      ApiKeyStore::Open(command.append, {.poll_interval = std::chrono::milliseconds(0)});
  ASSERT_TRUE(store.ok()) << store.status();
  EXPECT_TRUE((*store)->Authenticate(key)) << err_;
  fs::permissions(command.append, fs::perms::others_read, fs::perm_options::add);
  EXPECT_EQ(Captured([&] { return RunHashKey(command); }), kExitFailed);
  EXPECT_NE(err_.find("is open to others"), std::string::npos) << err_;
  EXPECT_EQ(err_.find("key, shown"), std::string::npos) << err_;
}

}  // namespace
}  // namespace millrace
