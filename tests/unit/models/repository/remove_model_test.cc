#include "models/repository/remove_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::models {
namespace {

using ::testing::HasSubstr;

class RemoveModelTest : public ::testing::Test {
 protected:
  void Write(const std::string& model) {
    std::filesystem::create_directories(models() / model / "1");
    std::ofstream(models() / model / "1" / "model.pbtxt") << "license: \"MIT\"\n";
  }
  std::filesystem::path models() const { return folder_.path() / "models"; }

  testing::TemporaryFolder folder_;
};

TEST_F(RemoveModelTest, RemovesAModelWhole) {
  Write("a");
  Write("b");
  EXPECT_TRUE(RemoveModel(models(), "a").ok());
  size_t left = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models())) {
    EXPECT_EQ(entry.path().filename(), "b");
    ++left;
  }
  EXPECT_EQ(left, 1);
}

TEST_F(RemoveModelTest, SaysThatAModelIsNotThere) {
  Write("a");
  EXPECT_TRUE(absl::IsNotFound(RemoveModel(models(), "b")));
  EXPECT_TRUE(absl::IsNotFound(RemoveModel(folder_.path() / "none", "b")));
  std::ofstream(models() / "file");
  EXPECT_TRUE(absl::IsNotFound(RemoveModel(models(), "file")));
}

TEST_F(RemoveModelTest, LeavesWhatIsElsewhere) {
  Write("a");
  std::filesystem::create_directories(folder_.path() / "other" / "1");
  for (const char* name : {"..", "../other", ".", "", "a/1", ".a"})
    EXPECT_TRUE(absl::IsInvalidArgument(RemoveModel(models(), name))) << name;
  std::filesystem::create_directory_symlink(folder_.path() / "other", models() / "link");
  const absl::Status status = RemoveModel(models(), "link");
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is a link"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "other" / "1"));
  EXPECT_TRUE(std::filesystem::exists(models() / "a" / "1" / "model.pbtxt"));
}

}  // namespace
}  // namespace millrace::models
