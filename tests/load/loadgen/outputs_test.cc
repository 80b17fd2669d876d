#include "tests/load/loadgen/outputs.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace millrace::loadgen {
namespace {

uint64_t HashOf(std::string_view text) {
  Hash hash;
  hash.Append(text);
  return hash.value();
}

TEST(HashTest, MatchesThePublishedVectorsOfFnv1a64) {
  EXPECT_EQ(HashOf(""), 0xcbf29ce484222325U);
  EXPECT_EQ(HashOf("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(HashOf("foobar"), 0x85944171f73967e8U);
}

TEST(HashTest, DoesNotDependOnThePieces) {
  Hash hash;
  hash.Append("foo");
  hash.Append("bar");
  EXPECT_EQ(hash.value(), HashOf("foobar"));
}

TEST(OutputsTest, CountsAnswersThatDifferFromTheFirst) {
  Outputs outputs;
  outputs.Add(0, 1, HashOf("a"), "a");
  outputs.Add(1, 1, HashOf("b"), "b");
  outputs.Add(0, 1, HashOf("a"), "a");
  EXPECT_EQ(outputs.inconsistent(), 0U);
  outputs.Add(1, 1, HashOf("c"), "c");
  EXPECT_EQ(outputs.inconsistent(), 1U);
}

TEST(OutputsTest, WritesTheFirstOutputOfEachInput) {
  Outputs outputs;
  outputs.Add(3, 5, HashOf("a\"b\nc"), "a\"b\nc");
  outputs.Add(3, 1, HashOf("x"), "x");
  const std::string path = testing::TempDir() + "outputs_test.jsonl";
  ASSERT_TRUE(outputs.Write(path));
  std::ifstream file(path);
  std::string line;
  ASSERT_TRUE(std::getline(file, line));
  EXPECT_NE(line.find(R"("text":"a\"b\nc")"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("index":3)"), std::string::npos) << line;
  EXPECT_FALSE(std::getline(file, line));
  std::remove(path.c_str());
}

TEST(OutputsTest, SaysWhenItCannotWrite) {
  Outputs outputs;
  outputs.Add(0, 1, 1, "a");
  EXPECT_FALSE(outputs.Write(testing::TempDir() + "no/such/folder/outputs"));
}

}  // namespace
}  // namespace millrace::loadgen
