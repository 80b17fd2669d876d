#include "models/bergamot/bergamot_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "models/bergamot/shortlist.h"
#include "tests/fakes/temporary_folder.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::bergamot {
namespace {

using ::testing::HasSubstr;

class BergamotWeightsTest : public ::testing::Test {
 protected:
  // Loads the tiny model after a change to it.
  auto LoadChanged(const std::function<void(TinyTensors&)>& change) {
    TinyTensors tensors = MakeTinyTensors(1);
    change(tensors);
    WriteSafetensors(file_, tensors);
    return BergamotWeights::Load(file_);
  }
  std::string ErrorAfter(const std::function<void(TinyTensors&)>& change) {
    const auto loaded = LoadChanged(change);
    if (loaded.ok()) return "no error";
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
    return std::string(loaded.status().message());
  }

  const testing::TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "weights.safetensors";
};

TEST_F(BergamotWeightsTest, LoadsAModel) {
  const auto loaded = LoadChanged([](TinyTensors&) {});
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->dim(), kTinyDim);
  EXPECT_EQ((*loaded)->source_tokens(), kTinyTokens);
  EXPECT_EQ((*loaded)->target_tokens(), kTinyTokens);
  EXPECT_EQ((*loaded)->encoder.size(), 2u);
  EXPECT_EQ((*loaded)->decoder.size(), 2u);
}

TEST_F(BergamotWeightsTest, AMissingFileIsNotFound) {
  EXPECT_EQ(BergamotWeights::Load(folder_.path() / "none").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(BergamotWeightsTest, ATruncatedFileIsAnError) {
  WriteSafetensors(file_, MakeTinyTensors(1));
  const auto size = std::filesystem::file_size(file_);
  for (const auto kept : {size - 1, size / 2, uintmax_t{100}, uintmax_t{8}, uintmax_t{0}}) {
    std::filesystem::resize_file(file_, kept);
    EXPECT_EQ(BergamotWeights::Load(file_).status().code(), absl::StatusCode::kDataLoss) << kept;
  }
}

TEST_F(BergamotWeightsTest, AMissingTensorIsNamed) {
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) { t.erase("decoder_l2_ffn_b1"); }),
              HasSubstr("'decoder_l2_ffn_b1': missing"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) { t.erase("encoder_l1_self_Wv.multiplier"); }),
              HasSubstr("encoder_l1_self_Wv.multiplier"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) { t.erase("shortlist.ids"); }),
              HasSubstr("shortlist.ids"));
}

TEST_F(BergamotWeightsTest, AWrongShapeOrTypeIsNamedWithWhatIsExpected) {
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) {
                t["encoder_l2_self_Wq"].shape = {kTinyDim / 2, kTinyDim * 2};
              }),
              HasSubstr("'encoder_l2_self_Wq': is INT8 [64, 256], expected INT8 [128, 128]"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) {
                t["encoder_l2_self_bq"] = IntTensor(std::vector<int32_t>(kTinyDim));
              }),
              HasSubstr("'encoder_l2_self_bq': is INT32"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) { t["Wemb"].shape = {kTinyTokens * kTinyDim}; }),
              HasSubstr("'Wemb'"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) {
                t["Wemb"].shape = {96, 96};
              }),
              HasSubstr("'Wemb': unsupported size"));
}

TEST_F(BergamotWeightsTest, EachSideMayHaveItsOwnEmbeddings) {
  const std::vector<int32_t> rows = {0, 3, 2};
  const auto loaded = LoadChanged([&](TinyTensors& t) { SplitVocabulary(rows, t); });
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ((*loaded)->source_tokens(), 3);
  EXPECT_EQ((*loaded)->target_tokens(), kTinyTokens);
}

TEST_F(BergamotWeightsTest, EmbeddingsOfASideThatDoNotFitAreNamed) {
  const std::vector<int32_t> rows = {0, 3, 2};
  const auto error = [&](const std::function<void(TinyTensors&)>& change) {
    return ErrorAfter([&](TinyTensors& t) {
      SplitVocabulary(rows, t);
      change(t);
    });
  };
  EXPECT_THAT(error([](TinyTensors& t) { t.erase("encoder_Wemb"); }),
              HasSubstr("'encoder_Wemb': missing"));
  EXPECT_THAT(error([](TinyTensors& t) { t.erase("decoder_Wemb"); }),
              HasSubstr("'decoder_Wemb': missing"));
  EXPECT_THAT(error([](TinyTensors& t) {
                t["encoder_Wemb"].shape = {6, kTinyDim / 2};
              }),
              HasSubstr("'encoder_Wemb': is INT8 [6, 64], expected INT8 [-1, 128]"));
  // The offsets are by source tokens, and the ids are target tokens.
  EXPECT_THAT(error([](TinyTensors& t) {
                t["shortlist.offsets"] = IntTensor(std::vector<int32_t>(kTinyTokens + 1));
              }),
              HasSubstr("'shortlist.offsets': is INT32 [73], expected INT32 [4]"));
  EXPECT_THAT(error([](TinyTensors& t) { t["shortlist.ids"] = IntTensor({kTinyTokens}); }),
              HasSubstr("shortlist"));
}

TEST_F(BergamotWeightsTest, FewerHiddenUnitsThanTheWidthAreAnError) {
  WriteSafetensors(file_, MakeTinyTensors(1, /*dim=*/256, /*hidden=*/128));
  const auto loaded = BergamotWeights::Load(file_);
  EXPECT_EQ(loaded.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(loaded.status().message()),
              HasSubstr("'encoder_l1_ffn_W1': 128 hidden units are not supported; allowed are "
                        "multiples of 64 from 256 to 65536"));
}

TEST_F(BergamotWeightsTest, HeadsAreThoseOfTheFile) {
  const auto loaded = [&](int32_t heads) {
    return LoadChanged([&](TinyTensors& t) { t["heads"] = IntTensor({heads}); });
  };
  EXPECT_EQ((*LoadChanged([](TinyTensors&) {}))->heads, 8);
  for (const int32_t heads : {1, 2, 4, 8}) {
    ASSERT_TRUE(loaded(heads).ok()) << loaded(heads).status();
    EXPECT_EQ((*loaded(heads))->heads, heads);
  }
  for (const int32_t heads : {-1, 0, 3, 16}) {
    EXPECT_THAT(std::string(loaded(heads).status().message()),
                HasSubstr("'heads': " + std::to_string(heads) +
                          " do not divide 128 into heads of 16 or more"));
  }
}

TEST_F(BergamotWeightsTest, WidthsAreMultiplesOf64) {
  for (const int64_t dim : {192, 320, 448}) {
    WriteSafetensors(file_, MakeTinyTensors(1, dim, /*hidden=*/2 * dim));
    EXPECT_TRUE(BergamotWeights::Load(file_).ok()) << dim;
  }
  WriteSafetensors(file_, MakeTinyTensors(1, /*dim=*/160, /*hidden=*/320));
  EXPECT_THAT(std::string(BergamotWeights::Load(file_).status().message()),
              HasSubstr("unsupported size 72 x 160"));
}

TEST_F(BergamotWeightsTest, ABadMultiplierIsAnError) {
  for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THAT(ErrorAfter([&](TinyTensors& t) { t["Wemb.multiplier"] = FloatTensor({bad}); }),
                HasSubstr("bad multiplier"));
  }
}

TEST_F(BergamotWeightsTest, AShortlistOutOfRangeIsAnError) {
  std::vector<int32_t> offsets(kTinyTokens + 1, 0);
  offsets.back() = 1 << 20;
  EXPECT_THAT(ErrorAfter([&](TinyTensors& t) { t["shortlist.offsets"] = IntTensor(offsets); }),
              HasSubstr("beyond the ids"));
  offsets.back() = -1;
  EXPECT_THAT(ErrorAfter([&](TinyTensors& t) { t["shortlist.offsets"] = IntTensor(offsets); }),
              HasSubstr("not ascending"));
  EXPECT_THAT(ErrorAfter([](TinyTensors& t) { t["shortlist.ids"] = IntTensor({kTinyTokens}); }),
              HasSubstr("shortlist"));
  for (const int32_t first : {0, -1, 1000}) {
    EXPECT_THAT(ErrorAfter([&](TinyTensors& t) { t["shortlist.first"] = IntTensor({first}); }),
                HasSubstr("out of range"));
  }
}

TEST(ShortlistTest, GivesTheFirstTokensAndThoseOfTheSourceOnceEach) {
  const std::vector<int32_t> offsets = {0, 0, 2, 4, 5};
  const std::vector<int32_t> ids = {70, 3, 3, 64, 1};
  const Shortlist shortlist({2, offsets, ids}, 71);
  EXPECT_EQ(shortlist.Candidates(std::vector<int32_t>{0}), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(shortlist.Candidates(std::vector<int32_t>{1, 2, 1, 3}),
            (std::vector<int32_t>{0, 1, 3, 64, 70}));
}

}  // namespace
}  // namespace millrace::bergamot
