// With the real espeak-ng.

#include "models/text/phonemizer.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/fakes/at_once.h"

namespace millrace::models {
namespace {

std::unique_ptr<Phonemizer> Make(const char* voice = "en-us") {
  Phonemizer::Options options;
  options.voice = voice;
  options.espeak.timeout = std::chrono::seconds(30);
  auto phonemizer = Phonemizer::Create(options);
  EXPECT_TRUE(phonemizer.ok()) << phonemizer.status();
  return *std::move(phonemizer);
}

std::string Phonemize(const Phonemizer& phonemizer, std::string_view text) {
  const auto phonemes = phonemizer.Phonemize(text);
  EXPECT_TRUE(phonemes.ok()) << phonemes.status();
  return phonemes.ok() ? *phonemes : "";
}

TEST(PhonemizerTest, KeepsPunctuationBetweenClauses) {
  EXPECT_EQ(Phonemize(*Make(), "Hello there, world: how are you?"),
            "həlˈoʊ ðˈɛɹ, wˈɜːld: hˈaʊ ɑːɹ juː?");
}

TEST(PhonemizerTest, SpeaksAnAbbreviationWithoutAPause) {
  EXPECT_EQ(Phonemize(*Make(), "Mr. Smith met Dr. Jones."), "mˈɪstɚ smˈɪθ mˈɛt dˈɑːktɚ dʒˈoʊnz.");
}

TEST(PhonemizerTest, DecomposesCharacters) {
  const std::string phonemes = Phonemize(*Make("de"), "ich");
  EXPECT_NE(phonemes.find("c\u0327"), std::string::npos) << phonemes;
  EXPECT_EQ(phonemes.find("\u00e7"), std::string::npos) << phonemes;
}

TEST(PhonemizerTest, DropsLanguageFlags) {
  const std::string phonemes = Phonemize(*Make("de"), "Das ist ein Computer.");
  EXPECT_FALSE(phonemes.empty());
  EXPECT_EQ(phonemes.find('('), std::string::npos) << phonemes;
}

TEST(PhonemizerTest, TextIsNeverAnArgumentNorACommand) {
  const auto phonemizer = Make();
  const std::string plain = Phonemize(*phonemizer, "hello");
  for (const char* text : {"-v de hello", "--version", "$(touch x) `id`", "[[h@l'oU]]",
                           "hello\n--help\nhello", "<speak>hi</speak>"}) {
    const std::string phonemes = Phonemize(*phonemizer, text);
    EXPECT_EQ(phonemes.find("Copyright"), std::string::npos) << text;
    EXPECT_EQ(Phonemize(*phonemizer, "hello"), plain) << "after " << text;
  }
}

TEST(PhonemizerTest, FindsTheWordsThatAreJoinedOrSeveral) {
  const auto phonemizer = Make();
  const std::string text = "Of the 42 men in the room, \"I am\" the 1984 one, for $5.";
  const auto words = phonemizer->PhonemizeWords(text);
  ASSERT_TRUE(words.ok()) << words.status();
  EXPECT_EQ(words->phonemes, Phonemize(*phonemizer, text));
  std::string found;
  for (const PhonemeWord& word : words->words) {
    found += text.substr(word.begin, word.end - word.begin) + "=" +
             words->phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin) +
             "|";
  }
  EXPECT_EQ(found,
            "Of=ʌv|the=ðə|42=fˈoːɹɾi tˈuː|men=mˈɛn|in=ɪn|the=ðə|room=ɹˈuːm|I=aɪ|am=ɐm|the=ðə|"
            "1984=nˈaɪntiːnhˈʌndɹɪd ˈeɪɾi fˈoːɹ|one=wˌʌn|for=fɔːɹ|$5=dˈɑːlɚ fˈaɪv|");
}

TEST(PhonemizerTest, PunctuationAloneIsNothing) {
  const auto phonemizer = Make();
  for (const char* text : {"...", "?!", "", " ", "\u2014"})
    EXPECT_EQ(Phonemize(*phonemizer, text), "") << text;
}

TEST(PhonemizerTest, SpeaksTwoThousandWordsWithoutPunctuation) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "nine ";
  const std::string phonemes = Phonemize(*Make(), text);
  size_t words = 0;
  for (size_t at = phonemes.find("nˈaɪn"); at != std::string::npos;
       at = phonemes.find("nˈaɪn", at + 1))
    ++words;
  EXPECT_EQ(words, 2000U);
}

TEST(PhonemizerTest, ThreadsGetTheirOwnAnswers) {
  const auto phonemizer = Make();
  const std::vector<std::string> texts = {"one", "two, three", "four: five", "six; seven!"};
  std::vector<std::string> expected;
  for (const std::string& text : texts) expected.push_back(Phonemize(*phonemizer, text));
  testing::AtOnce(texts.size(), [&](size_t i) {
    for (int round = 0; round < 25; ++round)
      EXPECT_EQ(Phonemize(*phonemizer, texts[i]), expected[i]);
  });
}

TEST(PhonemizerTest, AnUnknownVoiceIsRefusedAtTheStart) {
  Phonemizer::Options options;
  options.voice = "xx-nowhere";
  const auto phonemizer = Phonemizer::Create(options);
  ASSERT_FALSE(phonemizer.ok());
  EXPECT_NE(phonemizer.status().message().find("xx-nowhere"), std::string::npos)
      << phonemizer.status();
}

}  // namespace
}  // namespace millrace::models
