#include "models/core/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/fakes/temporary_folder.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

class RegularFileTest : public ::testing::Test {
 protected:
  fs::path Write(const std::string& text) const {
    const fs::path path = folder_.path() / "file";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  const millrace::testing::TemporaryFolder folder_;
};

TEST_F(RegularFileTest, IsReadToItsEnd) {
  const std::string text = std::string(100'000, 'x') + '\0' + "end";
  const auto read = ReadRegularFile(Write(text), text.size());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, text);
  EXPECT_EQ(OpenRegularFile(Write(text), text.size())->bytes, text.size());
}

TEST_F(RegularFileTest, MissingOneIsNamed) {
  const absl::Status status = ReadRegularFile("no/such/file", 1).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no/such/file: cannot be read: No such file or directory");
}

TEST_F(RegularFileTest, TooLargeOneIsRefusedByItsSizeAlone) {
  const fs::path path = Write("12345");
  EXPECT_TRUE(ReadRegularFile(path, 5).ok());
  fs::resize_file(path, uintmax_t{1} << 40);
  const absl::Status status = ReadRegularFile(path, 5).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), path.string() + ": has 1099511627776 bytes, allowed are at most 5");
}

TEST_F(RegularFileTest, PipesDevicesAndFoldersAreRefusedAtOnce) {
  const fs::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const fs::path& path : {pipe, fs::path("/dev/zero"), folder_.path()}) {
    const absl::Status status = ReadRegularFile(path, 1 << 20).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), path.string() + ": is not a regular file, and only such are read");
  }
}

}  // namespace
}  // namespace millrace::models
