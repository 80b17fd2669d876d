#include "server/control/pull_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
                       " --started-by=" + std::filesystem::canonical("/proc/self/exe").string() +
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

TEST_F(PullModelsTest, TellsHowFarItIs) {
  Write(R"(echo '{"event": "pull", "name": "m", "size": 30}'
echo '{"event": "progress", "file": "a", "bytes": 10, "size": 10, "model_bytes": 10, "model_size": 30}'
echo '{"event": "progress", "file": "b", "bytes": 4, "size": null, "model_bytes": 14, "model_size": null}'
echo '{"event": "converting", "name": "m"}'
)");
  std::vector<std::string> told;
  const absl::Status status = PullModels(
      {.names = {"a"}, .folder = "models"}, [] { return false; },
      [&told](const PullProgress& progress) {
        told.push_back(progress.file + " " + std::to_string(progress.bytes) + " of " +
                       std::to_string(progress.size) + (progress.converting ? ", converting" : ""));
      });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_THAT(told,
              ::testing::ElementsAre(" 0 of 30", "a 10 of 30", "b 14 of 0", " 0 of 0, converting"));
}

TEST_F(PullModelsTest, ListsWhatIsPublished) {
  Write(R"(test "$*" = "available --json --models=/models" || exit 9
echo '{"name": "firefox/en-de", "bytes": 5}'
echo 'no JSON'
echo '{"event": "notice", "message": "a hub does not answer"}'
echo '{"event": "error", "status": 3, "message": "the list is not complete"}'
exit 3
)");
  const auto published = ListPublished("/models", [] { return false; });
  ASSERT_TRUE(published.ok()) << published.status();
  EXPECT_THAT(published->models, ::testing::ElementsAre(R"({"bytes":5,"name":"firefox/en-de"})"));
  EXPECT_EQ(published->notice, "a hub does not answer; the list is not complete");
  Write("exit 2\n");
  EXPECT_TRUE(absl::IsFailedPrecondition(ListPublished("/models", [] { return false; }).status()));
  Write("sleep 60\n");
  EXPECT_TRUE(absl::IsUnavailable(ListPublished("/models", [] { return true; }).status()));
}

}  // namespace
}  // namespace millrace::server
