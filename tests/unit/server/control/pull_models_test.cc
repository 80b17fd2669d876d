#include "server/control/pull_models.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::server {
namespace {

// A program in the place of millrace-models, in a folder that PATH names first.
class PullModelsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* const path = std::getenv("PATH");
    old_path_ = path == nullptr ? "" : path;
    setenv("PATH", (folder_.path().string() + ":" + old_path_).c_str(), 1);
  }
  void TearDown() override { setenv("PATH", old_path_.c_str(), 1); }

  void Write(const std::string& script) {
    const std::filesystem::path program = folder_.path() / "millrace-models";
    std::ofstream(program) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }

  absl::Status Pull(const std::function<bool()>& stop = [] { return false; }) const {
    return PullModels(
        {.names = {"a", "b"}, .folder = folder_.path() / "models", .as = "", .only_missing = true},
        stop);
  }

  testing::TemporaryFolder folder_;

 private:
  std::string old_path_;
};

TEST_F(PullModelsTest, GivesTheProgramItsFolderAndNames) {
  Write("echo \"$@\" > $(dirname $0)/words\n");
  EXPECT_TRUE(Pull().ok());
  std::ifstream file(folder_.path() / "words");
  std::string words;
  std::getline(file, words);
  EXPECT_EQ(words, "pull --json --models=" + (folder_.path() / "models").string() +
                       " --only-missing -- a b");
}

TEST_F(PullModelsTest, FailsWithTheReasonThatTheProgramGives) {
  Write("echo '{\"event\": \"error\", \"status\": 4, \"message\": \"no such name\"}'\nexit 4\n");
  EXPECT_EQ(Pull(), absl::NotFoundError("no such name"));
}

TEST_F(PullModelsTest, FailsWithTheStatusOfAProgramThatGivesNone) {
  Write("echo 'no JSON'\nexit 7\n");
  const absl::Status status = Pull();
  EXPECT_TRUE(std::string(status.message()).ends_with("millrace-models ended with status 7"));
}

TEST_F(PullModelsTest, InterruptsTheProgramWhenTheServerStops) {
  Write(
      "trap 'touch $(dirname $0)/interrupted; exit 130' INT\necho started\n"
      "while :; do sleep 0.05; done\n");
  int looks = 0;
  EXPECT_EQ(Pull([&] { return ++looks > 3; }).code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "interrupted"));
}

TEST_F(PullModelsTest, SaysHowToInstallAProgramThatIsMissing) {
  setenv("PATH", "/nowhere", 1);
  const std::string message(Pull().message());
  EXPECT_NE(message.find("pip install millrace-models"), std::string::npos) << message;
}

}  // namespace
}  // namespace millrace::server
