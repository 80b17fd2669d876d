#include "models/repository/model_sources.h"

#include <gtest/gtest.h>

#include <string>

namespace millrace::models {
namespace {

TEST(ModelSourcesTest, AreFoldersThatMayHaveNames) {
  const auto sources = ParseModelSources("/srv/models,voice=/mnt/models,./a=b,c=d");
  ASSERT_TRUE(sources.ok()) << sources.status();
  ASSERT_EQ(sources->size(), 4U);
  EXPECT_EQ((*sources)[0].name, "");
  EXPECT_EQ((*sources)[0].folder, "/srv/models");
  EXPECT_EQ((*sources)[1].name, "voice");
  EXPECT_EQ((*sources)[1].folder, "/mnt/models");
  EXPECT_EQ((*sources)[2].name, "");
  EXPECT_EQ((*sources)[2].folder, "./a=b");
  EXPECT_EQ((*sources)[3].name, "c");
  EXPECT_EQ((*sources)[3].folder, "d");
}

TEST(ModelSourcesTest, RefuseWhatIsNoFolderOrNoName) {
  for (const char* text : {"", ",", "/a,", "/a,,/b", "voice=", "=/a", "a b=/a", ".x=/a"}) {
    EXPECT_EQ(ParseModelSources(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_FALSE(ParseModelSources(std::string("/a\0b", 4)).ok());
  EXPECT_EQ(ParseModelSources("a b=/a").status().message(),
            "'a b=/a': 'a b' is no name of a model");
}

TEST(ModelSourcesTest, NewModelsBelongIntoTheFirstFolderOfMany) {
  EXPECT_EQ(FolderForNewModels("voice=/mnt/voice,/srv/models,/other").value(), "/srv/models");
  EXPECT_EQ(FolderForNewModels("voice=/mnt/voice").status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace millrace::models
