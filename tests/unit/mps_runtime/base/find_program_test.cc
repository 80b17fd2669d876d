#include "mps_runtime/base/find_program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace millrace {
namespace {

namespace fs = std::filesystem;

class FindProgramTest : public ::testing::Test {
 protected:
  FindProgramTest() : folder_(fs::path(::testing::TempDir()) / "find_program") {
    for (const char* name : {"first", "second"}) fs::create_directories(folder_ / name);
  }
  ~FindProgramTest() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  fs::path Write(const fs::path& name, fs::perms permissions) {
    std::ofstream(folder_ / name) << "#!/bin/sh\n";
    fs::permissions(folder_ / name, permissions);
    return folder_ / name;
  }

  const std::string path_ = std::getenv("PATH");
  const fs::path folder_;
};

TEST_F(FindProgramTest, FindsTheFirstThatMayBeExecuted) {
  Write("first/speaker", fs::perms::owner_read);
  const fs::path program = Write("second/speaker", fs::perms::owner_all);
  fs::create_directory(folder_ / "first" / "folder");
  const std::string folders =
      (folder_ / "first").string() + "::/nowhere:" + (folder_ / "second").string();
  setenv("PATH", folders.c_str(), 1);
  EXPECT_EQ(FindProgram("speaker"), program);
  EXPECT_EQ(FindProgram("folder"), fs::path());
  EXPECT_EQ(FindProgram("nobody"), fs::path());
  setenv("PATH", "", 1);
  EXPECT_EQ(FindProgram("speaker"), fs::path());
  unsetenv("PATH");
  EXPECT_EQ(FindProgram("speaker"), fs::path());
}

}  // namespace
}  // namespace millrace
