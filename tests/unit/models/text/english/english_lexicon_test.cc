#include "models/text/english/english_lexicon.h"

#include <gtest/gtest.h>

#include "fakes/temporary_folder.h"
#include "tiny_lexicon.h"

namespace millrace::models {
namespace {

using testing::LexiconBytes;
using testing::TemporaryFolder;
using testing::WriteFile;

const std::map<std::string, std::string> kWords = {
    {"cat", "gkˈæt"}, {"live", "glˈIv\tADJ=x\tVERB=lˈɪv"}, {"US", "gˌʌs\tNOUN"}, {"zoo", "szˈu"}};

class EnglishLexiconTest : public ::testing::Test {
 protected:
  absl::StatusOr<EnglishLexicon> Open(const std::string& bytes) {
    WriteFile(folder_.path() / "lexicon", bytes);
    return EnglishLexicon::Open(folder_.path() / "lexicon");
  }

  TemporaryFolder folder_;
};

TEST_F(EnglishLexiconTest, FindsWordsAsTheyAreWritten) {
  const auto lexicon = Open(LexiconBytes(kWords, 1));
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  EXPECT_EQ(lexicon->size(), 4U);
  EXPECT_EQ(lexicon->dialect(), EnglishDialect::kGb);
  ASSERT_TRUE(lexicon->Find("cat"));
  EXPECT_EQ(lexicon->Find("cat")->phonemes(), "kˈæt");
  EXPECT_TRUE(lexicon->Find("cat")->checked());
  EXPECT_FALSE(lexicon->Find("zoo")->checked());
  EXPECT_FALSE(lexicon->Find("Cat"));
  EXPECT_FALSE(lexicon->Find("ca"));
  EXPECT_FALSE(lexicon->Find("cats"));
  EXPECT_FALSE(lexicon->Find(""));
  EXPECT_FALSE(lexicon->Find("zzz"));
}

TEST_F(EnglishLexiconTest, FindsWordsThatOthersBeginWith) {
  const auto lexicon = Open(LexiconBytes({{"a", "gA"}, {"at", "gæt"}, {"ate", "gAt"}}));
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  EXPECT_EQ(lexicon->Find("a")->phonemes(), "A");
  EXPECT_EQ(lexicon->Find("at")->phonemes(), "æt");
  EXPECT_EQ(lexicon->Find("ate")->phonemes(), "At");
  EXPECT_FALSE(lexicon->Find("ates"));
  // Neither a part of an entry nor all of it is a word.
  EXPECT_FALSE(lexicon->Find({"at\0g", 4}));
  EXPECT_FALSE(lexicon->Find({"ate\0gAt", 7}));
}

TEST_F(EnglishLexiconTest, TellsPartsOfSpeechApart) {
  const auto lexicon = Open(LexiconBytes(kWords));
  ASSERT_TRUE(lexicon.ok()) << lexicon.status();
  const LexiconEntry live = *lexicon->Find("live");
  EXPECT_EQ(live.phonemes(), "lˈIv");
  EXPECT_EQ(live.Variant("VERB"), "lˈɪv");
  EXPECT_EQ(live.Variant("ADJ"), "x");
  EXPECT_EQ(live.Variant("NOUN"), std::nullopt);
  EXPECT_EQ(lexicon->Find("US")->Variant("NOUN"), "");
  EXPECT_FALSE(lexicon->Find("cat")->HasVariants());
}

TEST_F(EnglishLexiconTest, EveryDamagedByteIsNoticed) {
  const std::string good = LexiconBytes(kWords);
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x21);
    const auto lexicon = Open(bad);
    ASSERT_FALSE(lexicon.ok()) << "byte " << i;
    EXPECT_EQ(lexicon.status().code(), absl::StatusCode::kDataLoss) << i;
  }
}

TEST_F(EnglishLexiconTest, EveryTruncationIsNoticed) {
  const std::string good = LexiconBytes(kWords);
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(Open(good.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(Open(good + "x").ok());
}

TEST_F(EnglishLexiconTest, ContentsThatMakeNoSenseAreRefusedInSpiteOfTheChecksum) {
  EXPECT_FALSE(Open(LexiconBytes({{"", "gx"}})).ok());
  EXPECT_FALSE(Open(LexiconBytes({{"word", ""}})).ok());
  EXPECT_FALSE(Open(LexiconBytes({{"word", "qx"}})).ok());
  EXPECT_FALSE(Open(LexiconBytes({{"word", "g\xff"}})).ok());
  EXPECT_FALSE(Open(LexiconBytes(kWords, 2)).ok());
}

TEST_F(EnglishLexiconTest, ErrorsNameTheFile) {
  const auto missing = EnglishLexicon::Open(folder_.path() / "nowhere");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
  EXPECT_NE(missing.status().message().find("nowhere"), std::string::npos);
  EXPECT_NE(Open("short").status().message().find("lexicon: damaged"), std::string::npos);
}

}  // namespace
}  // namespace millrace::models
