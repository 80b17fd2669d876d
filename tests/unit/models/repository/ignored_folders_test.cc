#include "models/repository/ignored_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace millrace::models {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class IgnoredFoldersTest : public ::testing::Test {
 protected:
  IgnoredFoldersTest()
      : root_(fs::path(::testing::TempDir()) / ("millrace_ignored_" + std::to_string(getpid()))) {
    fs::create_directories(root_);
  }
  ~IgnoredFoldersTest() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void Write(const std::string& file) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << "x";
  }
  std::string Why(const std::string& name) const { return WhyIgnored(root_ / name); }

  const fs::path root_;
};

TEST_F(IgnoredFoldersTest, AModelIsNotAndNorIsWhatIsHiddenOrAFile) {
  Write("joe/1/model.pbtxt");
  Write("joe/notes.txt");
  Write(".git/config");
  Write("README.md");
  EXPECT_THAT(IgnoredFolders(root_), IsEmpty());
  EXPECT_THAT(IgnoredFolders(root_ / "joe"), IsEmpty());
  EXPECT_THAT(IgnoredFolders(root_ / "none"), IsEmpty());
}

TEST_F(IgnoredFoldersTest, LinksThatLeadNowhereOrInACircleAreToldOf) {
  fs::create_symlink("gone", root_ / "dangling");
  fs::create_symlink("circle", root_ / "circle");
  fs::create_directories(root_ / "config" / "1");
  fs::create_symlink("model.pbtxt", root_ / "config" / "1" / "model.pbtxt");
  fs::create_directories(root_ / "version");
  fs::create_symlink("1", root_ / "version" / "1");
  for (const char* name : {"dangling", "circle"})
    EXPECT_THAT(Why(name), HasSubstr("is ignored: it is a link to what does not exist")) << name;
  EXPECT_THAT(Why("config"), HasSubstr("config/1/model.pbtxt is a link to what does not exist"));
  EXPECT_THAT(Why("version"), HasSubstr("version/1 is a link to what does not exist"));
}

TEST_F(IgnoredFoldersTest, EachKindOfFolderIsToldWhatWouldHelp) {
  Write("My Voice/1/model.pbtxt");
  Write("triton/config.pbtxt");
  Write("triton/1/model.pt");
  Write("raw/1/voice.onnx");
  Write("flat/voice.onnx");
  Write("no-version/model.pbtxt");
  Write("v-version/v1/model.pbtxt");
  Write("huge-version/9223372036854775808/model.pbtxt");
  Write("no-config/1/model.pt");
  Write("voice.onnx");
  EXPECT_THAT(Why("My Voice"), AllOf(HasSubstr("'My Voice' is no name"), HasSubstr("rename")));
  EXPECT_THAT(Why("triton"),
              AllOf(HasSubstr("Triton's config.pbtxt"), HasSubstr("triton/1/model.pbtxt")));
  EXPECT_THAT(Why("raw"),
              HasSubstr("models.convert vits --onnx " + (root_ / "raw/1/voice.onnx").string()));
  EXPECT_THAT(Why("flat"), HasSubstr("models.convert vits"));
  EXPECT_THAT(Why("no-version"), HasSubstr("no-version/1/model.pbtxt"));
  EXPECT_THAT(Why("v-version"), HasSubstr("'v1' is no version"));
  EXPECT_THAT(Why("huge-version"), HasSubstr("'9223372036854775808' is no version"));
  EXPECT_THAT(Why("no-config"), HasSubstr("it has no <version>/model.pbtxt"));
  EXPECT_THAT(Why("voice.onnx"), HasSubstr("models.convert vits"));
  EXPECT_EQ(IgnoredFolders(root_).size(), 9U);
}

TEST_F(IgnoredFoldersTest, ALineIsOneWhateverTheName) {
  Write("two\nlines/1/model.pbtxt");
  EXPECT_THAT(IgnoredFolders(root_), ElementsAre(HasSubstr("/two?lines is ignored: ")));
}

TEST_F(IgnoredFoldersTest, ThereAreNotTooManyLines) {
  for (int i = 0; i < 50; ++i) fs::create_directories(root_ / std::to_string(i));
  EXPECT_EQ(IgnoredFolders(root_).size(), 20U);
}

}  // namespace
}  // namespace millrace::models
