// With a lexicon of a few words: how words are looked for, and what surrounds them.

#include "models/text/english/english_g2p.h"

#include <gtest/gtest.h>

#include <random>

#include "fakes/fake_clock.h"
#include "fakes/fake_fallback.h"
#include "fakes/linear_time.h"
#include "fakes/temporary_folder.h"
#include "models/core/strings.h"
#include "tiny_lexicon.h"

namespace millrace::models {
namespace {

class EnglishG2pTest : public ::testing::Test {
 protected:
  std::string Spoken(std::string_view text) {
    EnglishG2p::Options options;
    options.fallback = fallback_;
    options.user_lexicon = user_;
    options.vocabulary = vocabulary_;
    const EnglishG2p g2p(testing::TinyLexicon(folder_.path()), options);
    auto tokens = g2p.Phonemize(text);
    if (!tokens.ok()) {
      return StrCat(absl::StatusCodeToString(tokens.status().code()), ": ",
                    tokens.status().message());
    }
    tokens_ = *std::move(tokens);
    return JoinPhonemes(tokens_).phonemes;
  }

  testing::TemporaryFolder folder_;
  std::shared_ptr<testing::FakeFallback> fallback_ = std::make_shared<testing::FakeFallback>();
  testing::FakeClock clock_;  // Before `user_`, whose thread reads it.
  std::shared_ptr<UserLexicon> user_;
  PhonemeVocabulary vocabulary_;
  std::vector<PhonemeToken> tokens_;
};

TEST_F(EnglishG2pTest, EveryWrittenWordHasItsPhonemes) {
  const std::string text = "The dog, [Rex](/ɹˈɛks/), read 22 of the 東 dogs.";
  const std::string phonemes = Spoken(text);
  std::string found;
  for (const PhonemeWord& word : JoinPhonemes(tokens_).words) {
    found += text.substr(word.begin, word.end - word.begin) + "=" +
             phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin) + "|";
  }
  EXPECT_EQ(found,
            "The=ðə|dog=dˈɔɡ|Rex=ɹˈɛks|read=<read>|22=<twenty> tˈu|of=<of>|the=ðə|東=<Chinese> "
            "<characters>|dogs=dˈɔɡz|");
}

TEST_F(EnglishG2pTest, ArticlesAndToHangOnTheNextSound) {
  EXPECT_EQ(Spoken("the dog to the apple"), "ðə dˈɔɡ tə ði ˈæpᵊl");
  EXPECT_EQ(Spoken("the, apple"), "ðə, ˈæpᵊl");
  EXPECT_EQ(Spoken("to apple, to"), "tʊ ˈæpᵊl, tu");
  EXPECT_EQ(Spoken("a dog in"), "ɐ dˈɔɡ ˈɪn");
  EXPECT_EQ(Spoken("in a dog"), "ɪn ɐ dˈɔɡ");
  EXPECT_EQ(Spoken("“the” “apple”"), "“ði” “ˈæpᵊl”");
}

TEST_F(EnglishG2pTest, WeakFormsAreStrongBeforeAPause) {
  EXPECT_EQ(Spoken("can dog can."), "kæn dˈɔɡ kˈæn.");
}

TEST_F(EnglishG2pTest, InflectedWordsComeFromTheirStems) {
  EXPECT_EQ(Spoken("dogs cats buses cities dog's dogs'"), "dˈɔɡz kˈæts bˈʌsᵻz sˈɪTiz dˈɔɡz dˈɔɡz");
  EXPECT_EQ(Spoken("wanted jumped stopped making stopping"),
            "wˈɑntᵻd ʤˈʌmpt stˈɑpt mˈAkɪŋ stˈɑpɪŋ");
  EXPECT_TRUE(fallback_->calls.empty());
}

TEST_F(EnglishG2pTest, LetterCaseDoesNotHideAWord) {
  EXPECT_EQ(Spoken("Dog london Odd"), "dˈɔɡ lˈʌndən ˈɑd");
}

TEST_F(EnglishG2pTest, AbbreviationsAreSpelledUnlessTheyAreWords) {
  EXPECT_EQ(Spoken("NASA dog"), "nˈæsə dˈɔɡ");
  EXPECT_EQ(Spoken("a BBS dog"), "ɐ bˌibˌiˈɛs dˈɔɡ");
  EXPECT_EQ(Spoken("U.S. dog"), "jˌuˈɛs dˈɔɡ");
  EXPECT_EQ(Spoken("US dogs"), "jˌuˈɛs dˈɔɡz");
  EXPECT_EQ(Spoken("US DOGS"), "ˌʌs dˈɔɡz");
  EXPECT_EQ(Spoken("a BBS's dog"), "ɐ bˌibˌiˈɛsᵻz dˈɔɡ");
}

TEST_F(EnglishG2pTest, NeighboursDecideBetweenNounAndVerb) {
  EXPECT_EQ(Spoken("to record the record"), "tə ɹəkˈɔɹd ðə ɹˈɛkəɹd");
  EXPECT_EQ(Spoken("used to use the use"), "jˈust tə jˈuz ðə jˈus");
}

TEST_F(EnglishG2pTest, CompoundsAreOneWordWithFewerStresses) {
  EXPECT_EQ(Spoken("red-hot dog"), "ɹˌɛdhˈɑt dˈɔɡ");
  EXPECT_EQ(Spoken("dogCat"), "dˌɔɡkˈæt");
}

TEST_F(EnglishG2pTest, AllUnknownWordsOfASentenceAreAskedForOnce) {
  EXPECT_EQ(Spoken("The zorg and zorg met dog, quux."),
            "ðə <zorg> <and> <zorg> <met> dˈɔɡ, <quux>.");
  ASSERT_EQ(fallback_->calls.size(), 1U);
  EXPECT_EQ(fallback_->calls[0], (std::vector<std::string>{"and", "met", "quux", "zorg"}));
}

TEST_F(EnglishG2pTest, AFailingFallbackFailsTheSentenceThatNeedsIt) {
  fallback_->fails = true;
  EXPECT_EQ(Spoken("dog zorg"), "UNAVAILABLE: no fallback today");
  EXPECT_EQ(Spoken("dog"), "dˈɔɡ");
}

TEST_F(EnglishG2pTest, WithoutAFallbackUnknownWordsAreSpelled) {
  fallback_.reset();
  EXPECT_EQ(Spoken("a bus sub"), "ɐ bˈʌs ˌɛsjˌubˈi");
}

TEST_F(EnglishG2pTest, ADecimalPointIsSpokenLightly) {
  EXPECT_EQ(Spoken("2.5"), "tˈu pYnt fˈIv");
  EXPECT_EQ(Spoken("point"), "pˈYnt");
}

TEST_F(EnglishG2pTest, PronunciationsInTheTextWin) {
  EXPECT_EQ(Spoken("the [dog](/xˈyz/)'s, [two words](/ab/)."), "ðə xˈyzᵻz, ab.");
  EXPECT_EQ(Spoken("to [dog](/ˈæ/)"), "tʊ ˈæ");
  const std::string text = "a [dog](/x/).";
  Spoken(text);
  ASSERT_EQ(tokens_.size(), 2U);
  EXPECT_EQ(text.substr(tokens_[1].begin, tokens_[1].end - tokens_[1].begin), "dog");
  EXPECT_EQ(tokens_[1].after, ".");
}

TEST_F(EnglishG2pTest, PronunciationsOutsideTheVocabularyAreRefused) {
  const std::vector<std::string> symbols = {"x", "y"};
  vocabulary_ = PhonemeVocabulary(symbols);
  EXPECT_EQ(Spoken("[dog](/xy/)"), "xy");
  EXPECT_EQ(Spoken("a [dog](/xq/)"),
            "INVALID_ARGUMENT: text: the pronunciation [...](/.../) at byte 2 has the symbol 'q', "
            "which the "
            "voice does not know");
}

TEST_F(EnglishG2pTest, TheOperatorsWordsComeBeforeTheLexicon) {
  testing::WriteFile(folder_.path() / "words", "dog\tdawg\nzorg\tzˈɔɹɡ\nThe\tðiː");
  UserLexicon::Options options;
  options.path = folder_.path() / "words";
  options.clock = &clock_;
  auto user = UserLexicon::Open(std::move(options));
  ASSERT_TRUE(user.ok()) << user.status();
  user_ = *std::move(user);
  EXPECT_EQ(Spoken("The dog the Zorg"), "ðiː dawg ðə zˈɔɹɡ");
  EXPECT_TRUE(fallback_->calls.empty());
}

TEST_F(EnglishG2pTest, TokensKeepSpansWordsAndMarks) {
  const std::string text = "“Dog” wanted 2…";
  EXPECT_EQ(Spoken(text), "“dˈɔɡ” wˈɑntᵻd tˈu…");
  ASSERT_EQ(tokens_.size(), 4U);
  EXPECT_EQ(tokens_[0].word, "");
  EXPECT_EQ(tokens_[0].after, "“");
  EXPECT_EQ(tokens_[1].word, "Dog");
  EXPECT_EQ(tokens_[1].after, "” ");
  EXPECT_EQ(text.substr(tokens_[3].begin, tokens_[3].end - tokens_[3].begin), "2");
  EXPECT_EQ(tokens_[3].word, "two");
}

TEST_F(EnglishG2pTest, OtherScriptsAreNamed) {
  EXPECT_EQ(Spoken("dog 日本 dog."), "dˈɔɡ <Chinese> <characters> dˈɔɡ.");
}

TEST_F(EnglishG2pTest, NothingToSayIsNothing) {
  EXPECT_EQ(Spoken(""), "");
  EXPECT_EQ(Spoken("  \n "), "");
  EXPECT_EQ(Spoken("\xff\xfe"), "");
  EXPECT_EQ(Spoken("..."), "...");
}

TEST_F(EnglishG2pTest, HostileTextsTakeLinearTime) {
  for (const std::string piece :
       {"1",       "a",    "A",     "dog-",    "dogCat", "[a](/x/)", "[",   "the ",
        "to the ", "can ", "that ", "record ", "'s",     "s's",      "eds", "inging",
        "US ",     "A.B.", "é",     "read ",   "-",      "x'",       "$1 ", "\xff"}) {
    ExpectLinearTime(piece, 100'000, [&](const std::string& text) {
      Spoken(text);
      EXPECT_LT(JoinPhonemes(tokens_).phonemes.size(), text.size() * 60) << piece;
    });
  }
}

TEST_F(EnglishG2pTest, RandomTextsAreSafe) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {
      "dog", "US", "'",  "’", "s",    "-",   ".",  ",", " ", "2", "$", "the",  "to",  "[",  "]",
      "(",   "(/", "/)", "é", "\xe2", "ing", "ed", "A", "I", "”", "“", "read", "McX", "\n", "\t"};
  EnglishG2p::Options options;
  options.fallback = fallback_;
  const EnglishG2p g2p(testing::TinyLexicon(folder_.path()), options);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t i = random() % 12; i > 0; --i) text += pieces[random() % pieces.size()];
    const auto tokens = g2p.Phonemize(text);
    if (!tokens.ok()) {
      EXPECT_EQ(tokens.status().code(), absl::StatusCode::kInvalidArgument);
      continue;
    }
    for (const PhonemeToken& token : *tokens) {
      ASSERT_LE(token.begin, token.end) << text;
      ASSERT_LE(token.end, text.size()) << text;
    }
  }
}

}  // namespace
}  // namespace millrace::models
