#include "tests/load/loadgen/options.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace millrace::loadgen {
namespace {

// A command line whose texts and their lengths are in files.
class OptionsOfFilesTest : public testing::Test {
 protected:
  ~OptionsOfFilesTest() override { std::filesystem::remove_all(folder_); }

  std::optional<Options> Parse(const std::string& method, const std::string& texts,
                               const std::string& target_tokens) {
    std::vector<std::string> words = {"loadgen",
                                      "--address",
                                      "a:1",
                                      "--method",
                                      method,
                                      "--model",
                                      "m",
                                      "--texts",
                                      Write("texts", texts),
                                      "--count",
                                      "1",
                                      "--target-tokens",
                                      Write("tokens", target_tokens)};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    return ParseOptions(static_cast<int>(argv.size()), argv.data(), &exit_code_);
  }

  int exit_code_ = 0;

 private:
  std::string Write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path) << content;
    return path.string();
  }

  static std::filesystem::path MakeFolder() {
    std::string name = testing::TempDir() + "options_XXXXXX";
    return mkdtemp(name.data());
  }

  const std::filesystem::path folder_ = MakeFolder();
};

TEST_F(OptionsOfFilesTest, EachTextHasItsTargetTokens) {
  const auto options = Parse("translate", "One.\nTwo.\n", "7\n1024\n");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->texts, (std::vector<std::string>{"One.", "Two."}));
  EXPECT_EQ(options->target_tokens, (std::vector<int>{7, 1024}));
}

TEST_F(OptionsOfFilesTest, TargetTokensThatAreNotOneForEachTextAreRefused) {
  EXPECT_FALSE(Parse("translate", "One.\nTwo.\n", "7\n"));
  EXPECT_EQ(exit_code_, 2);
}

TEST_F(OptionsOfFilesTest, TargetTokensOutOfRangeAreRefused) {
  for (const char* tokens : {"0", "1025", "-1", "7x", "x"}) {
    EXPECT_FALSE(Parse("translate", "One.\n", tokens)) << tokens;
    EXPECT_EQ(exit_code_, 2);
  }
}

TEST_F(OptionsOfFilesTest, TargetTokensAreForTranslationsOnly) {
  EXPECT_FALSE(Parse("synthesize", "One.\n", "7\n"));
  EXPECT_EQ(exit_code_, 2);
}

}  // namespace
}  // namespace millrace::loadgen
