#include "models/translation/load_piece_model.h"

#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {
namespace {

TEST(LoadPieceModelTest, FilesOfOneContentShareAnObjectWhileItIsInUse) {
  const std::filesystem::path file = bergamot::TestDataFolder() / "tiny.spm";
  const std::filesystem::path copy =
      std::filesystem::path(testing::TempDir()) / "load_piece_model_test.spm";
  std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing);
  auto first = LoadPieceModel(file);
  const auto second = LoadPieceModel(copy);
  const auto other = LoadPieceModel(bergamot::TestDataFolder() / "tiny-de.spm");
  ASSERT_TRUE(first.ok() && second.ok() && other.ok());
  EXPECT_EQ(*first, *second);
  EXPECT_NE(*first, *other);
  EXPECT_EQ(first->use_count(), 2);  // none but the callers keep it
  std::filesystem::remove(copy);
}

TEST(LoadPieceModelTest, ThreadsThatLoadAtOnceShareAnObject) {
  std::vector<std::shared_ptr<const PieceModel>> loaded(8);
  {
    std::vector<std::jthread> threads;
    for (auto& model : loaded) {
      threads.emplace_back([&model] {
        if (auto found = LoadPieceModel(bergamot::TestDataFolder() / "tiny.spm"); found.ok())
          model = *found;
      });
    }
  }
  for (const auto& model : loaded) EXPECT_EQ(model, loaded.front());
  ASSERT_NE(loaded.front(), nullptr);
  EXPECT_GT(loaded.front()->size(), 0);
}

}  // namespace
}  // namespace millrace::translation
