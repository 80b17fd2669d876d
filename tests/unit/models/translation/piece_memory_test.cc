// The program and the module of SentencePiece may have allocators of their own, so what the module
// returns must be memory of the program. Here the program's allocator notes its blocks.

#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "models/translation/load_piece_model.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace {

// The latest blocks of the program's allocator, and how many there were.
std::array<std::atomic<void*>, 4096> blocks;
std::atomic<size_t> count;

}  // namespace

void* operator new(size_t size) {
  void* const block = std::malloc(size);
  if (block == nullptr) throw std::bad_alloc();
  blocks[count++ % blocks.size()] = block;
  return block;
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace millrace::translation {
namespace {

class PieceMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto loaded = LoadPieceModel(bergamot::TestDataFolder() / "tiny.spm");
    ASSERT_TRUE(loaded.ok());
    model_ = *std::move(loaded);
    before_ = count;
  }

  // Returns true if the program has allocated the block in this test.
  bool IsOurs(const void* block) const {
    for (size_t i = before_; i < count; ++i) {
      if (blocks[i % blocks.size()] == block) return true;
    }
    return false;
  }

  // Longer than a string without memory of its own.
  static constexpr std::string_view kText = "the house and the garden and the house";

  std::shared_ptr<const PieceModel> model_;
  size_t before_ = 0;
};

TEST_F(PieceMemoryTest, ResultsAreMemoryOfTheProgram) {
  const std::vector<int32_t> ids = model_->Encode(kText);
  ASSERT_GT(ids.size(), 3U);
  EXPECT_TRUE(IsOurs(ids.data()));
  const std::vector<PieceModel::Piece> pieces = model_->EncodeWithPlaces(kText);
  ASSERT_EQ(pieces.size(), ids.size());
  EXPECT_TRUE(IsOurs(pieces.data()));
  const std::string text = model_->Decode(ids);
  EXPECT_GT(text.size(), 16U);
  EXPECT_TRUE(IsOurs(text.data()));
}

}  // namespace
}  // namespace millrace::translation
