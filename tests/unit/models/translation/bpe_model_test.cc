// Pieces are those of subword-nmt: tests/data/translation/moses_golden.json, made by
// tests/unit/models/convert/make_moses_golden.py.

#include "models/translation/bpe_model.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/translation/vocabulary.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::translation {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

json Golden() {
  std::ifstream file(bergamot::TestDataFolder() / "moses_golden.json");
  return json::parse(file);
}

json PiecesFile() {
  return json::parse(R"({"dividing": [["\\.", " ."], [" +", " "], ["^ ", ""]],
                         "joining": [[" \\.", "."]],
                         "merges": ["l o", "lo w</w>", "o w</w>"]})");
}

std::shared_ptr<const PieceModel> ModelOf(const json& file) {
  auto model = BpeModel::Read(file.dump());
  EXPECT_TRUE(model.ok()) << model.status();
  return *std::move(model);
}

std::string ErrorOf(const std::string& file) {
  return std::string(BpeModel::Read(file).status().message());
}

// Returns the pieces as subword-nmt writes them.
std::string PiecesOf(const PieceModel& model, const std::string& text) {
  std::string pieces;
  for (const PieceModel::Piece& piece : model.EncodeWithPlaces(text)) pieces += piece.text + "@@ ";
  pieces = absl::StrReplaceAll(pieces, {{"\xE2\x96\x81@@", ""}});
  return pieces.substr(0, pieces.empty() ? 0 : pieces.size() - 1);
}

TEST(BpeModelTest, PiecesAreThoseOfSubwordNmt) {
  const json golden = Golden();
  json file = json::parse(R"({"dividing": [], "joining": [], "own_end": false})");
  file["merges"] = std::vector<json>(golden["codes"].begin() + 1, golden["codes"].end());
  const auto model = ModelOf(file);
  file["own_end"] = true;
  const auto old = ModelOf(file);
  for (const auto& [language, entries] : golden["texts"].items()) {
    for (const json& entry : entries) {
      EXPECT_EQ(PiecesOf(*model, entry["words"]), entry["pieces"]) << language;
      EXPECT_EQ(PiecesOf(*old, entry["words"]), entry["old"]) << language;
    }
  }
}

TEST(BpeModelTest, PiecesHavePlacesInTheText) {
  std::vector<std::string> texts;
  std::vector<size_t> places;
  for (const auto& piece : ModelOf(PiecesFile())->EncodeWithPlaces("  slow  é.")) {
    texts.push_back(piece.text);
    places.push_back(piece.begin);
  }
  EXPECT_THAT(texts, ElementsAre("s", "low▁", "é▁", ".▁"));
  EXPECT_THAT(places, ElementsAre(2U, 3U, 8U, 10U));
}

TEST(BpeModelTest, AWordOfAnyLengthIsDivided) {
  std::string word;
  for (int i = 0; i < 3000; ++i) word += "é";
  const auto pieces = ModelOf(PiecesFile())->EncodeWithPlaces(word);
  ASSERT_EQ(pieces.size(), 3000U);
  EXPECT_EQ(pieces.back().text, "é▁");
  EXPECT_EQ(pieces[2999].begin, 5998U);
}

TEST(BpeModelTest, AVocabularyOfItEncodesCutsAndDecodes) {
  const std::filesystem::path folder = ::testing::TempDir();
  std::ofstream(folder / "bpe_model_test.json") << PiecesFile().dump();
  std::ofstream(folder / "bpe_model_test.txt") << "\n\ns\nlow▁\n.▁\nlo\n";
  const auto loaded = Vocabulary::LoadWithTable(folder / "bpe_model_test.json",
                                                folder / "bpe_model_test.txt", 6, /*unknown=*/1);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const Vocabulary& vocabulary = **loaded;
  EXPECT_THAT(vocabulary.Encode("slow low.", 9).tokens, ElementsAre(2, 3, 3, 4));
  EXPECT_EQ(vocabulary.Decode(std::vector<int32_t>{2, 3, 3, 4}), "slow low.");
  EXPECT_THAT(vocabulary.EndsOf(std::vector<int32_t>{2, 3, 3, 4}), ElementsAre(1U, 4U, 8U, 9U));
  EXPECT_THAT(vocabulary.Encode("", 9).tokens, ElementsAre());
  // The cut is between words.
  const Vocabulary::Prefix prefix = vocabulary.Encode("low low slow", 3);
  EXPECT_THAT(prefix.tokens, ElementsAre(3, 3));
  EXPECT_EQ(prefix.bytes, 8U);
  EXPECT_THAT(vocabulary.UnknownParts("low x"), ElementsAre("x"));
  EXPECT_EQ(vocabulary.FitOf(U'.'), CharacterFit::kKnown);
  EXPECT_EQ(vocabulary.FitOf(U'x'), CharacterFit::kUnknown);
}

TEST(BpeModelTest, DamagedFilesAreNamed) {
  EXPECT_THAT(ErrorOf("{"), HasSubstr("is no JSON object"));
  for (const std::string field : {"dividing", "joining", "merges"}) {
    json file = PiecesFile();
    file.erase(field);
    EXPECT_THAT(ErrorOf(file.dump()), HasSubstr("has no " + field));
  }
  json file = PiecesFile();
  file["merges"][0] = 1;
  EXPECT_THAT(ErrorOf(file.dump()), HasSubstr("a merge is no text"));
  file = PiecesFile();
  file["joining"] = json::parse(R"=([["(", "x"]])=");
  EXPECT_THAT(ErrorOf(file.dump()), HasSubstr("the rule '(' is damaged"));
}

}  // namespace
}  // namespace millrace::translation
