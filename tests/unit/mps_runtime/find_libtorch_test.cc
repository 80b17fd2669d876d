#include "mps_runtime/find_libtorch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::runtime {
namespace {

// The folder of a distribution of libtorch, with files that a test writes into it.
class FindLibtorchTest : public ::testing::Test {
 protected:
  FindLibtorchTest() { std::filesystem::create_directory(folder_.path() / "lib"); }

  void Write(const std::string& file, const std::string& text) {
    std::ofstream(folder_.path() / file) << text;
  }
  std::filesystem::path Library() const { return folder_.path() / "lib" / "libtorch_cpu.so"; }

 private:
  testing::TemporaryFolder folder_;
};

#ifdef __GLIBC__
// The claim of the header: this program has loaded libtorch, so both ways are open.
TEST(FindLoadedLibtorchTest, FindsTheLibraryThatIsLoadedAndKnowsItsVersion) {
  const Provenance loaded = ReadLibtorchProvenance();
  const std::optional<Provenance> found = FindLibtorch();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->libtorch_path, loaded.libtorch_path);
  EXPECT_EQ(found->libtorch_version, loaded.libtorch_version);
  EXPECT_EQ(found->libtorch_git_revision, loaded.libtorch_git_revision);
  EXPECT_EQ(found->compiled_against, loaded.compiled_against);
}
#endif

TEST_F(FindLibtorchTest, AWheelSaysItsVersionInPython) {
  Write("version.py",
        "from typing import Optional\n\n__all__ = ['__version__', 'git_version']\n"
        "__version__ = '2.15.0+cu132'\ndebug = False\ngit_version = 'd0f2af8'\n");
  const std::optional<Provenance> wheel = DescribeLibtorch(Library());
  ASSERT_TRUE(wheel.has_value());
  EXPECT_EQ(wheel->libtorch_version, "2.15.0");
  EXPECT_EQ(wheel->libtorch_git_revision, "d0f2af8");
  EXPECT_EQ(wheel->libtorch_path, Library());
}

TEST_F(FindLibtorchTest, AnArchiveSaysItsVersionInTwoFiles) {
  Write("build-version", "2.9.1+cpu\n");
  Write("build-hash", "5811a8d\n");
  const std::optional<Provenance> archive = DescribeLibtorch(Library());
  ASSERT_TRUE(archive.has_value());
  EXPECT_EQ(archive->libtorch_version, "2.9.1");
  EXPECT_EQ(archive->libtorch_git_revision, "5811a8d");
}

TEST_F(FindLibtorchTest, NothingIsGuessed) {
  EXPECT_FALSE(DescribeLibtorch(Library()).has_value()) << "no files";
  Write("build-version", "2.9.1+cpu\n");
  EXPECT_FALSE(DescribeLibtorch(Library()).has_value()) << "no revision";
  Write("build-hash", "5811a8d\n");
  for (const char* version : {"2.16.0a0+git5811a8d\n", "2.16\n", "dev\n", "\n"}) {
    Write("build-version", version);
    EXPECT_FALSE(DescribeLibtorch(Library()).has_value()) << version;
  }
}

}  // namespace
}  // namespace millrace::runtime
