#include "server/security/api_key_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "server/security/api_key_file.h"
#include "tests/fakes/fake_clock.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class ApiKeyStoreTest : public ::testing::Test {
 protected:
  ~ApiKeyStoreTest() override { fs::remove(file_); }

  static std::string Line(const std::string& name, Role role, const std::string& key) {
    return *ApiKeyLine(name, role, key) + "\n";
  }
  // By a rename, as an operator should.
  void Write(const std::string& text) {
    const fs::path next = file_.string() + ".next";
    std::ofstream(next, std::ios::binary) << text;
    fs::permissions(next, fs::perms::owner_read | fs::perms::owner_write);
    fs::rename(next, file_);
  }
  std::unique_ptr<ApiKeyStore> Open() {
    auto store = ApiKeyStore::Open(file_, {.poll_interval = std::chrono::milliseconds(0)});
    EXPECT_TRUE(store.ok()) << store.status();
    return *std::move(store);
  }
  std::string OpenError(const std::string& text) {
    Write(text);
    return std::string(ApiKeyStore::Open(file_).status().message());
  }

  const fs::path file_ = fs::path(::testing::TempDir()) /
                         ("millrace_keys_" + std::to_string(getpid()) + "_" +
                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ApiKeyStoreTest, KnowsEachKeyAndItsOwner) {
  Write("# people\n" + Line("ann", Role::kUser, "key-a") + "\n  " +
        Line("root", Role::kAdmin, "key-r"));
  const auto store = Open();
  EXPECT_EQ(store->Authenticate("key-a")->name, "ann");
  EXPECT_EQ(store->Authenticate("key-a")->role, Role::kUser);
  EXPECT_EQ(store->Authenticate("key-r")->name, "root");
  EXPECT_EQ(store->Authenticate("key-r")->role, Role::kAdmin);
}

TEST_F(ApiKeyStoreTest, RefusesEverythingElse) {
  Write(Line("ann", Role::kUser, "key-a"));
  const auto store = Open();
  const std::string hash = Line("ann", Role::kUser, "key-a").substr(9, 64);
  for (const std::string& key :
       {std::string(), std::string("key-"), std::string("key-aa"), std::string("KEY-A"),
        std::string("key-a\0", 6), std::string("ann"), hash, std::string(1 << 20, 'k')}) {
    EXPECT_FALSE(store->Authenticate(key)) << key.substr(0, 80);
  }
}

TEST_F(ApiKeyStoreTest, OneNameMayHaveTwoKeys) {
  Write(Line("ann", Role::kUser, "old") + Line("ann", Role::kUser, "new"));
  const auto store = Open();
  EXPECT_EQ(store->Authenticate("old")->name, "ann");
  EXPECT_EQ(store->Authenticate("new")->name, "ann");
}

TEST_F(ApiKeyStoreTest, ChangeIsInForceAfterAReload) {
  Write(Line("ann", Role::kUser, "old"));
  const auto store = Open();
  Write(Line("ann", Role::kUser, "new"));
  EXPECT_TRUE(store->Authenticate("old"));
  EXPECT_TRUE(store->Reload().ok());
  EXPECT_FALSE(store->Authenticate("old"));
  EXPECT_TRUE(store->Authenticate("new"));
}

// Same size, same inode and perhaps the same time stamp: only the content differs.
TEST_F(ApiKeyStoreTest, ChangeInPlaceIsSeen) {
  Write(Line("ann", Role::kUser, "old"));
  const auto store = Open();
  std::fstream(file_, std::ios::in | std::ios::out | std::ios::binary)
      << Line("ann", Role::kUser, "new");
  EXPECT_TRUE(store->Reload().ok());
  EXPECT_TRUE(store->Authenticate("new"));
}

TEST_F(ApiKeyStoreTest, BrokenOrMissingFileKeepsTheKeysBefore) {
  Write(Line("ann", Role::kUser, "key"));
  const auto store = Open();
  Write("ann:user\n");
  // A caller is told each time.
  for (int i = 0; i < 2; ++i) {
    ::testing::internal::CaptureStdout();
    EXPECT_FALSE(store->Reload().ok());
    EXPECT_NE(::testing::internal::GetCapturedStdout().find("API keys not loaded"),
              std::string::npos);
  }
  EXPECT_TRUE(store->Authenticate("key"));
  fs::remove(file_);
  EXPECT_FALSE(store->Reload().ok());
  EXPECT_TRUE(store->Authenticate("key"));
  Write(Line("bob", Role::kUser, "other"));
  EXPECT_TRUE(store->Reload().ok());
  EXPECT_FALSE(store->Authenticate("key"));
  EXPECT_TRUE(store->Authenticate("other"));
}

// The file before a break comes back unchanged: that must count as loaded again.
TEST_F(ApiKeyStoreTest, RecoversWhenTheOldContentReturns) {
  const std::string good = Line("ann", Role::kUser, "key");
  Write(good);
  const auto store = Open();
  fs::remove(file_);
  EXPECT_FALSE(store->Reload().ok());
  Write(good);
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(store->Reload().ok());
  EXPECT_TRUE(store->Reload().ok());
  const std::string log = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_NE(log.find("the file is in order again"), std::string::npos) << log;
}

TEST_F(ApiKeyStoreTest, EditorsOfOtherSystemsMayWriteTheFile) {
  std::string line = Line("ann", Role::kUser, "key");
  line.insert(line.size() - 1, "\r");
  Write("\xEF\xBB\xBF" + line);
  EXPECT_TRUE(Open()->Authenticate("key"));
}

TEST_F(ApiKeyStoreTest, AKeyHasOneNameAndOneRole) {
  const std::string good = Line("ann", Role::kUser, "key");
  EXPECT_TRUE(ParseApiKeys(good + good, "file").ok());
  for (const std::string& other :
       {Line("bob", Role::kUser, "key"), Line("ann", Role::kAdmin, "key")}) {
    EXPECT_EQ(ParseApiKeys(good + "# bob's\n" + other, "file").status().message(),
              "file:3: bad hash, it is that of line 1, and a key has one name and one role");
  }
}

TEST_F(ApiKeyStoreTest, ErrorsNameFileAndLineButNeverTheLine) {
  const std::string good = Line("ann", Role::kUser, "key");
  const auto at = [&](const std::string& what) { return file_.string() + what; };
  EXPECT_EQ(OpenError(good + "my-secret-key\n"),
            at(":2: not name:role:sha256, three parts between colons"));
  EXPECT_EQ(OpenError("a:owner:00\n"), at(":1: bad role, allowed are user and admin"));
  EXPECT_EQ(OpenError("a:user:my-secret-key\n"),
            at(":1: bad hash, allowed are the 64 hexadecimal digits of the key's SHA-256"));
  EXPECT_NE(OpenError("a b:user:00\n").find(":1: bad name"), std::string::npos);
  EXPECT_NE(OpenError("# nobody\n").find("holds no key"), std::string::npos);
  fs::remove(file_);
  EXPECT_EQ(ApiKeyStore::Open(file_).status().message(),
            at(": cannot be read: No such file or directory"));
  EXPECT_NE(
      std::string(ApiKeyStore::Open(::testing::TempDir()).status().message()).find("is not a file"),
      std::string::npos);
}

TEST_F(ApiKeyStoreTest, OpenPermissionsAreWarnedOf) {
  Write(Line("ann", Role::kUser, "key"));
  fs::permissions(file_, fs::perms::others_read, fs::perm_options::add);
  ::testing::internal::CaptureStdout();
  const auto store = Open();
  EXPECT_NE(::testing::internal::GetCapturedStdout().find("mode=0604"), std::string::npos);
  EXPECT_TRUE(store->Authenticate("key"));
}

TEST_F(ApiKeyStoreTest, AFileThatEverybodyMayWriteIsRefused) {
  Write(Line("ann", Role::kUser, "key"));
  const auto store = Open();
  fs::permissions(file_, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(ApiKeyStore::Open(file_).status().message(),
            file_.string() +
                ": everybody may write it (mode 0602) and so let himself in, allowed are 0600 and "
                "0640");
  // The keys before it stay in force.
  std::ofstream(file_, std::ios::app) << Line("eve", Role::kAdmin, "hers");
  EXPECT_FALSE(store->Reload().ok());
  EXPECT_FALSE(store->Authenticate("hers"));
  EXPECT_TRUE(store->Authenticate("key"));
}

TEST_F(ApiKeyStoreTest, ALineIsAppendedToAFileForItsOwnerAlone) {
  const mode_t before = umask(0);
  EXPECT_TRUE(AppendApiKeyLine(file_, *ApiKeyLine("ann", Role::kUser, "key-a")).ok());
  umask(before);
  EXPECT_EQ(fs::status(file_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(AppendApiKeyLine(file_, *ApiKeyLine("bob", Role::kAdmin, "key-b")).ok());
  // A last line without an end gets one.
  std::ofstream(file_, std::ios::app) << "# people";
  EXPECT_TRUE(AppendApiKeyLine(file_, *ApiKeyLine("cyd", Role::kUser, "key-c")).ok());
  const auto store = Open();
  for (const char* key : {"key-a", "key-b", "key-c"}) EXPECT_TRUE(store->Authenticate(key)) << key;
}

TEST_F(ApiKeyStoreTest, NoLineIsAppendedToAFileThatIsOpenToOthers) {
  const std::string good = Line("ann", Role::kUser, "key");
  Write(good);
  const auto before = fs::file_size(file_);
  for (const fs::perms open :
       {fs::perms::others_read, fs::perms::others_write, fs::perms::group_write}) {
    fs::permissions(file_, fs::perms::owner_read | fs::perms::owner_write | open);
    const std::string said(AppendApiKeyLine(file_, good).message());
    EXPECT_NE(said.find(file_.string() + ": is open to others (mode 06"), std::string::npos)
        << said;
    EXPECT_NE(said.find("chmod 600"), std::string::npos) << said;
    EXPECT_EQ(fs::file_size(file_), before);
  }
}

TEST_F(ApiKeyStoreTest, NoLineIsAppendedToWhatIsNoFile) {
  EXPECT_NE(AppendApiKeyLine("/dev/null", "ann").message().find("/dev/null: is not a file"),
            std::string::npos);
  const fs::path nowhere = file_ / "below";
  EXPECT_NE(AppendApiKeyLine(nowhere, "ann").message().find(nowhere.string()), std::string::npos);
}

TEST_F(ApiKeyStoreTest, PollerReloadsByItsClock) {
  Write(Line("ann", Role::kUser, "old"));
  testing::FakeClock clock;
  const auto store =
      ApiKeyStore::Open(file_, {.poll_interval = std::chrono::seconds(2), .clock = &clock});
  ASSERT_TRUE(store.ok()) << store.status();
  Write(Line("ann", Role::kUser, "new"));
  // The poller may have read the clock before or after it moved: move it until it has looked.
  while (!(*store)->Authenticate("new")) {
    clock.Advance(std::chrono::seconds(2));
    std::this_thread::yield();
  }
  EXPECT_FALSE((*store)->Authenticate("old"));
}

TEST_F(ApiKeyStoreTest, ReadersAndReloadsAtOnce) {
  const std::string first = Line("ann", Role::kUser, "both") + Line("x", Role::kUser, "first");
  const std::string second = Line("ann", Role::kAdmin, "both") + Line("y", Role::kUser, "second");
  Write(first);
  const auto store = Open();
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) EXPECT_TRUE(store->Authenticate("both"));
    });
  }
  for (int i = 0; i < 50; ++i) {
    Write(i % 2 == 0 ? second : first);
    EXPECT_TRUE(store->Reload().ok());
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(BearerTokenTest, IsWhatFollowsTheScheme) {
  EXPECT_EQ(BearerToken("Bearer abc"), "abc");
  EXPECT_EQ(BearerToken("bearer   abc"), "abc");
  EXPECT_EQ(BearerToken("deepl-auth-key abc", "DeepL-Auth-Key"), "abc");
  EXPECT_EQ(BearerToken("DeepL-Auth-Keys abc", "DeepL-Auth-Key"), "");
  for (const char* text : {"", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"})
    EXPECT_EQ(BearerToken(text), "") << text;
}

TEST(ApiKeyLineTest, HoldsTheHashAndNotTheKey) {
  // From the standard's example: SHA-256("abc").
  EXPECT_EQ(*ApiKeyLine("ann", Role::kAdmin, "abc"),
            "ann:admin:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  for (const char* name : {"", "a:b", "a b", "a\nb", "#a"})
    EXPECT_FALSE(ApiKeyLine(name, Role::kUser, "abc").ok()) << name;
  EXPECT_FALSE(ApiKeyLine("ann", Role::kUser, "").ok());
}

TEST(GenerateApiKeyTest, IsLongAndNew) {
  std::set<std::string> keys;
  for (int i = 0; i < 100; ++i) keys.insert(*GenerateApiKey());
  EXPECT_EQ(keys.size(), 100U);
  EXPECT_EQ(keys.begin()->size(), 43U);
}

}  // namespace
}  // namespace millrace
