#include "models/repository/package_digest.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_folder.h"

namespace millrace::models {
namespace {

namespace fs = std::filesystem;

class PackageDigestTest : public ::testing::Test {
 protected:
  // A voice: the one kind with two files.
  void Write(const std::string& model, const std::string& weights, const std::string& voice,
             const std::string& license = "CC0-1.0", const std::string& version = "1") {
    const fs::path folder = root_.path() / model / version;
    fs::create_directories(folder);
    std::ofstream(folder / "w") << weights;
    std::ofstream(folder / "v") << voice;
    std::ofstream(folder / "other") << model;  // the config does not name it
    std::ofstream(folder / kModelConfigFile)
        << "license: '" << license
        << "' vits { file: 'w' voice_file: 'v' language: 'en' voice: 'joe' }";
  }
  std::string Digest(const std::string& model) const {
    const ModelRepository repository(root_.path(), {});
    const auto package = repository.Find(model);
    if (!package.ok()) return package.status().ToString();
    const auto digest = DigestOf(*package);
    return digest.ok() ? *digest : digest.status().ToString();
  }

  const testing::TemporaryFolder root_;
};

TEST_F(PackageDigestTest, TellsContentsApartAndNotNames) {
  Write("a", "weights", "voice");
  Write("b", "weights", "voice", "CC0-1.0", "7");
  EXPECT_EQ(Digest("a").size(), 64U) << Digest("a");
  EXPECT_EQ(Digest("a"), Digest("b"));
  const std::string before = Digest("a");
  Write("a", "Weights", "voice");
  EXPECT_NE(Digest("a"), before);
  Write("a", "weights", "voicf");
  EXPECT_NE(Digest("a"), before);
  Write("a", "weights", "voice", "CC1-1.0");
  EXPECT_NE(Digest("a"), before);
  Write("a", "weights", "voice");
  EXPECT_EQ(Digest("a"), before);
}

// A byte that moves from one file to the next is a change.
TEST_F(PackageDigestTest, FilesDoNotRunTogether) {
  Write("a", "bb", "ab");
  Write("b", "b", "aab");
  Write("c", "", "aabb");
  EXPECT_NE(Digest("a"), Digest("b"));
  EXPECT_NE(Digest("b"), Digest("c"));
}

TEST_F(PackageDigestTest, LargeFileCountsToItsEnd) {
  std::string weights(size_t{3} << 20, 'x');
  weights += "end";
  Write("a", weights, "voice");
  const std::string before = Digest("a");
  weights.back() = 'D';
  Write("a", weights, "voice");
  EXPECT_NE(Digest("a"), before);
}

TEST_F(PackageDigestTest, FileThatIsGoneIsNamed) {
  Write("a", "weights", "voice");
  const auto package = ModelRepository(root_.path(), {}).Find("a");
  ASSERT_TRUE(package.ok());
  fs::remove(package->folder / "w");
  EXPECT_NE(DigestOf(*package).status().message().find((package->folder / "w").string() +
                                                       ": cannot be read"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace millrace::models
