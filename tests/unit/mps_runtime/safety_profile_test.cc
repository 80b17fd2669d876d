#include "mps_runtime/safety_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/fakes/temporary_folder.h"

namespace millrace::runtime {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Pointer = Json::json_pointer;
using millrace::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

ProfileKey Key() {
  return {.backend = "mps",
          .device_name = "Apple M4 Max",
          .os = "Darwin",
          .os_release = "25.1.0",
          .machine = "arm64",
          .libtorch_version = "2.15.0",
          .libtorch_git_revision = "0123abcd"};
}

SafetyProfile Example() {
  SafetyProfile profile;
  profile.key = Key();
  profile.repeats = 20;
  profile.operators = {{.name = "linear",
                        .safe_concurrency = 2,
                        .runs = {{.threads = 1, .ok = 20},
                                 {.threads = 2, .ok = 20},
                                 {.threads = 3, .ok = 4, .crash = 1},
                                 {.threads = 4, .ok = 2, .hang = 1}}},
                       {.name = "softmax", .runs = {{.threads = 1, .error = 1}}}};
  profile.models = {{.name = "voice",
                     .version = 7,
                     .sha256 = std::string(64, 'a'),
                     .safe_concurrency = 1,
                     .runs = {{.threads = 1, .ok = 20}, {.threads = 2, .ok = 19, .wrong = 1}}}};
  return profile;
}

std::string Slurp(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::string RefusalOf(const std::string& text) {
  try {
    ParseSafetyProfile(text, "p.json");
  } catch (const SafetyProfileError& error) {
    return error.what();
  }
  return {};
}

std::string ReadRefusal(const fs::path& file) {
  try {
    ReadSafetyProfile(file);
  } catch (const SafetyProfileError& error) {
    return error.what();
  }
  return {};
}

// The example with one value replaced.
std::string With(const char* pointer, const Json& value) {
  Json json = Json::parse(ToJson(Example()));
  json[Pointer(pointer)] = value;
  return json.dump();
}

TEST(SafetyProfileTest, ReadsWhatItWrites) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "safety-profile.json";
  WriteSafetyProfile(Example(), file);
  EXPECT_EQ(ReadSafetyProfile(file), Example());
}

TEST(SafetyProfileTest, IsReplacedAsAWhole) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "safety-profile.json";
  std::ofstream(file) << std::string(100'000, 'x');
  WriteSafetyProfile(Example(), file);
  EXPECT_EQ(Slurp(file), ToJson(Example()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(SafetyProfileTest, MayBeReadByAnotherUserAsFarAsTheMaskLets) {
  const TemporaryFolder folder;
  const mode_t mask = umask(027);
  WriteSafetyProfile(Example(), folder.path() / "p");
  umask(mask);
  EXPECT_EQ(fs::status(folder.path() / "p").permissions(), static_cast<fs::perms>(0640));
}

// RLIMIT_FSIZE is what a full disk looks like to one process.
TEST(SafetyProfileTest, FullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "safety-profile.json";
  WriteSafetyProfile(Example(), file);
  SafetyProfile larger = Example();
  larger.operators.resize(50, larger.operators[1]);

  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 512, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string message;
  try {
    WriteSafetyProfile(larger, file);
  } catch (const SafetyProfileError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);

  EXPECT_THAT(message, AllOf(StartsWith(file.string() + ": cannot be written: "),
                             HasSubstr("what was there is left")));
  EXPECT_EQ(ReadSafetyProfile(file), Example());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1) << "half a file is left";
}

TEST(SafetyProfileTest, FolderThatIsNotThereIsNamed) {
  EXPECT_THROW(WriteSafetyProfile(Example(), "/nonexistent/p.json"), SafetyProfileError);
}

struct Bad {
  const char* pointer;
  Json value;
  const char* message;
};

class BadValueTest : public ::testing::TestWithParam<Bad> {};

TEST_P(BadValueTest, IsNamedWithWhatIsAllowed) {
  EXPECT_THAT(RefusalOf(With(GetParam().pointer, GetParam().value)),
              AllOf(StartsWith("p.json: "), HasSubstr(GetParam().message)));
}

constexpr char kCap[] = "/operators/0/safe_concurrency";

INSTANTIATE_TEST_SUITE_P(
    All, BadValueTest,
    ::testing::Values(
        Bad{kCap, 0, "operators[0].safe_concurrency: 0: allowed is 1..31"},
        Bad{kCap, -1, "operators[0].safe_concurrency: -1: allowed is 1..31"},
        Bad{kCap, 1'000'000'000, "operators[0].safe_concurrency: 1000000000: allowed is 1..31"},
        Bad{kCap, 18446744073709551615U, "18446744073709551615: allowed is 1..31"},
        Bad{kCap, 32, "32: allowed is 1..31"}, Bad{kCap, 2.0, "2.0: allowed is 1..31"},
        Bad{kCap, "2", "\"2\": allowed is 1..31"}, Bad{kCap, true, "true: allowed is 1..31"},
        Bad{kCap, Json::array(), "[]: allowed is 1..31"},
        // More than the runs beside it show.
        Bad{kCap, 3, "3: allowed is 1..2, which its runs survived"},
        Bad{"/operators/1/safe_concurrency", 1, "1: allowed is null"},
        Bad{"/repeats", 21, "operators[0].safe_concurrency: 2: allowed is null"},
        Bad{"/repeats", 0, "repeats: 0: allowed is 1..10000"},
        Bad{"/format", 2, "format: 2: allowed is 1..1"},
        Bad{"/format", "1", "format: \"1\": allowed is 1..1"},
        Bad{"/kind", "other", "kind: \"other\": allowed is \"millrace-safety-profile\""},
        Bad{"/key", 3, "key: 3: allowed is an object"},
        Bad{"/key/backend", "tpu", "key.backend: \"tpu\": allowed is cpu, cuda or mps"},
        Bad{"/key/os", 3, "key.os: 3: allowed is a text"},
        Bad{"/key/machine", "", "key.machine: \"\": allowed is a text"},
        Bad{"/key/device_name", std::string(300, 'x'), "...: allowed is a text of 1..256"},
        Bad{"/operators", Json::array(), "operators: []: allowed is a list of 1.."},
        Bad{"/operators", 1, "operators: 1: allowed is a list"},
        Bad{"/operators/0", Json(), "operators[0]: null: allowed is an object"},
        Bad{"/operators/1/name", "linear", "operators[1].name: \"linear\": allowed is each name"},
        Bad{"/operators/0/cap", 2, "operators[0].\"cap\": 2: allowed is none of that name"},
        Bad{"/operators/0/runs", Json::array(),
            "operators[0].runs: []: allowed is a list of 1..31"},
        Bad{"/operators/0/runs/1/threads", 1, "runs[1].threads: 1: allowed is 2..31"},
        Bad{"/operators/0/runs/0/ok", -1, "runs[0].ok: -1: allowed is 0.."},
        Bad{"/operators/0/runs/0/hang", 1e30, "runs[0].hang: 1e+30: allowed is 0.."},
        Bad{"/models/0/sha256", "aa", "models[0].sha256: \"aa\": allowed is 64 hexadecimal"},
        Bad{"/models/0/sha256", std::string(64, 'A'), "allowed is 64 hexadecimal"},
        Bad{"/models/0/version", 0, "models[0].version: 0: allowed is 1.."},
        Bad{"/comment", "\n", "\"comment\": \"\\n\": allowed is none of that name"}));

TEST(SafetyProfileTest, MissingFieldIsNamed) {
  Json json = Json::parse(ToJson(Example()));
  json["models"][0].erase("sha256");
  EXPECT_EQ(RefusalOf(json.dump()), "p.json: models[0].sha256: is missing");
}

TEST(SafetyProfileTest, LowerCapThanTheRunsShowIsAllowed) {
  EXPECT_EQ(ParseSafetyProfile(With(kCap, 1), "p").operators[0].safe_concurrency, 1);
  EXPECT_EQ(ParseSafetyProfile(With(kCap, Json()), "p").operators[0].safe_concurrency, 0);
}

// Cut anywhere, it is refused and nothing worse.
TEST(SafetyProfileTest, TruncatedAnywhereIsRefused) {
  const std::string whole = ToJson(Example());
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    EXPECT_THAT(RefusalOf(whole.substr(0, size)), HasSubstr("p.json: is not JSON: broken at byte"))
        << size;
  }
}

TEST(SafetyProfileTest, OtherContentsAreRefused) {
  EXPECT_THAT(RefusalOf(std::string("\0\xff\x01 nonsense", 12)), HasSubstr("is not JSON"));
  EXPECT_THAT(RefusalOf("[]"), HasSubstr("the whole: []: allowed is an object"));
  EXPECT_THAT(RefusalOf("null"), HasSubstr("allowed is an object"));
  for (const std::string& closed : {std::string(), std::string(1'000'000, ']')}) {
    EXPECT_THAT(RefusalOf(std::string(1'000'000, '[') + closed), HasSubstr("nested too deeply"));
  }
  EXPECT_THAT(RefusalOf(R"({"repeats": 1e999})"), HasSubstr("is not JSON"));
}

TEST(SafetyProfileTest, WhatIsNoFileIsRefused) {
  const TemporaryFolder folder;
  EXPECT_EQ(ReadRefusal(folder.path()), folder.path().string() + ": is not a file");
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ReadRefusal(pipe), pipe.string() + ": is not a file");
  EXPECT_EQ(ReadRefusal("/dev/zero"), "/dev/zero: is not a file");
  EXPECT_EQ(ReadRefusal(folder.path() / "no"),
            (folder.path() / "no").string() + ": cannot be read: No such file or directory");
  const fs::path loop = folder.path() / "loop";
  fs::create_symlink(loop, loop);
  EXPECT_THAT(ReadRefusal(loop), HasSubstr("cannot be read: "));
}

TEST(SafetyProfileTest, APipeIsNotReplaced) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(WriteSafetyProfile(Example(), pipe), SafetyProfileError);
  EXPECT_TRUE(fs::is_fifo(pipe));
}

TEST(SafetyProfileTest, HugeFileIsRefusedUnread) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "p";
  std::ofstream(file) << "{}";
  fs::resize_file(file, uint64_t{1} << 40);  // sparse
  EXPECT_THAT(ReadRefusal(file), HasSubstr("is larger than"));
}

TEST(SafetyProfileTest, UnreadableFileIsRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "p";
  WriteSafetyProfile(Example(), file);
  fs::permissions(file, fs::perms::none);
  EXPECT_THAT(ReadRefusal(file), HasSubstr("cannot be read: Permission denied"));
}

TEST(ProfileKeyTest, DifferenceNamesEachPartWithBothValues) {
  EXPECT_THAT(Difference(Key(), Key()), IsEmpty());
  std::string ProfileKey::*const parts[] = {&ProfileKey::backend,
                                            &ProfileKey::device_name,
                                            &ProfileKey::os,
                                            &ProfileKey::os_release,
                                            &ProfileKey::machine,
                                            &ProfileKey::libtorch_version,
                                            &ProfileKey::libtorch_git_revision};
  for (const auto part : parts) {
    ProfileKey here = Key();
    here.*part = "another";
    EXPECT_THAT(Difference(Key(), here),
                AllOf(HasSubstr("is '" + Key().*part + "', here it is 'another'"),
                      Not(HasSubstr(", here it is 'another',"))));
  }
}

TEST(ProfileKeyTest, IsThisMachines) {
  Provenance provenance;
  provenance.device = "cpu";
  provenance.device_name = "a processor";
  provenance.libtorch_version = "2.15.0";
  provenance.libtorch_git_revision = "abc";
  const ProfileKey key = KeyOf(provenance);
  EXPECT_EQ(key.backend, "cpu");
  EXPECT_EQ(key.device_name, "a processor");
  EXPECT_EQ(key.libtorch_version, "2.15.0");
  EXPECT_EQ(key.libtorch_git_revision, "abc");
  EXPECT_NE(key.os, "");
  EXPECT_NE(key.os_release, "");
  EXPECT_NE(key.machine, "");
}

TEST(ProfileKeyTest, TellsAPatchedLibtorchFromTheStockOne) {
  Provenance provenance;
  provenance.libtorch_git_revision = "abc";
  const ProfileKey stock = KeyOf(provenance);
  provenance.mps_patch_level = 1;
  EXPECT_EQ(KeyOf(provenance).libtorch_git_revision, "abc+mps-patch-1");
  EXPECT_NE(Difference(stock, KeyOf(provenance)), "");
}

TEST(SafeConcurrencyOfTest, IsTheLargestBelowTheFirstFailure) {
  const auto safe = [](std::vector<RunCounts> runs) { return SafeConcurrencyOf(runs, 3); };
  EXPECT_EQ(safe({}), 0);
  EXPECT_EQ(safe({{.threads = 1, .ok = 3}, {.threads = 4, .ok = 3}}), 4);
  EXPECT_EQ(safe({{.threads = 1, .ok = 3}, {.threads = 2, .ok = 2}}), 1) << "too few runs";
  EXPECT_EQ(safe({{.threads = 1, .ok = 3, .wrong = 1}}), 0);
  // Runs that survive beyond a failure do not count.
  EXPECT_EQ(safe({{.threads = 1, .ok = 3}, {.threads = 2, .hang = 1}, {.threads = 3, .ok = 3}}), 1);
}

}  // namespace
}  // namespace millrace::runtime
