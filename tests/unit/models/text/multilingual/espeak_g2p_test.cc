// With a stand-in for espeak-ng, which answers <line>.

#include "models/text/multilingual/espeak_g2p.h"

#include <gtest/gtest.h>

namespace millrace::models {
namespace {

EspeakG2p::Options Fake() {
  EspeakG2p::Options options;
  options.espeak.program = MILLRACE_FAKE_ESPEAK;
  options.voice = "es";
  options.espeak.timeout = std::chrono::seconds(30);
  return options;
}

std::unique_ptr<EspeakG2p> Make() {
  auto g2p = EspeakG2p::Create(Fake());
  EXPECT_TRUE(g2p.ok()) << g2p.status();
  return *std::move(g2p);
}

PhonemeText Read(std::string_view text, bool with_words = false) {
  const auto read = Make()->Phonemize(text, with_words);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? *read : PhonemeText();
}

// "word=phonemes|word=phonemes|"
std::string Words(const std::string& text) {
  const PhonemeText read = Read(text, true);
  std::string found;
  for (const PhonemeWord& word : read.words) {
    found += text.substr(word.begin, word.end - word.begin) + "=" +
             read.phonemes.substr(word.phonemes_begin, word.phonemes_end - word.phonemes_begin) +
             "|";
  }
  return found;
}

TEST(EspeakG2pTest, MarksStandBetweenWhatIsAsked) {
  EXPECT_EQ(Read("¡Hola, \"mundo\"!").phonemes, "¡<Hola>, \"<mundo>\"!");
  EXPECT_EQ(Read(" « Oui ! » dit-il. ").phonemes, "“ <Oui> ! ” <ditil>.");
}

TEST(EspeakG2pTest, WordsHaveTheirPlaces) {
  EXPECT_EQ(Words("¿Qué, \"tú\"? No."), "Qué=Qué|tú=tú|No=No|");
  EXPECT_TRUE(Read("Hola").words.empty()) << "which were not asked for";
}

TEST(EspeakG2pTest, APronunciationInTheTextIsSpoken) {
  EXPECT_EQ(Read("Un [tomate](/tomˈAto/), no.").phonemes, "<Un> tomˈAto, <no>.");
  EXPECT_EQ(Read("[tomate](/tomˈAto/)").phonemes, "tomˈAto");
  EXPECT_EQ(Words("Un [tomate rojo](/tˈo rˈo/) más"), "Un=Un|tomate rojo=tˈo rˈo|más=más|");
}

TEST(EspeakG2pTest, APronunciationIsOfSymbolsThatTheVoiceKnows) {
  EspeakG2p::Options options = Fake();
  const std::vector<std::string> symbols = {"t", "o"};
  options.vocabulary = PhonemeVocabulary(symbols);
  const auto g2p = EspeakG2p::Create(options);
  ASSERT_TRUE(g2p.ok()) << g2p.status();
  const auto refused = (*g2p)->Phonemize("Un [tomate](/toß/)", false);
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(refused.status().message().find("the symbol 'ß', which the voice does not know"),
            std::string::npos)
      << refused.status();
}

TEST(EspeakG2pTest, MarksAloneAreNothing) {
  for (const char* text : {"", " ", "?!", "« »", "...", "।"}) {
    EXPECT_EQ(Read(text).phonemes, "") << text;
    EXPECT_TRUE(Read(text, true).words.empty()) << text;
  }
}

TEST(EspeakG2pTest, ATextTooLongForOneLineIsAskedInSeveral) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "nueve ";
  const std::string phonemes = Read(text).phonemes;
  size_t words = 0;
  for (size_t at = phonemes.find("nueve"); at != std::string::npos;
       at = phonemes.find("nueve", at + 1))
    ++words;
  EXPECT_EQ(words, 400U);
  EXPECT_NE(phonemes.find("> <"), std::string::npos);
}

TEST(EspeakG2pTest, WhatIsMissingIsNamed) {
  EspeakG2p::Options options = Fake();
  options.espeak.program = "/nowhere/espeak-ng";
  const absl::Status program = EspeakG2p::Create(options).status();
  EXPECT_EQ(program.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(program.message().find("/nowhere/espeak-ng was not found; install"), std::string::npos)
      << program;
  // A program that knows no voice ends at once.
  options.espeak.program = "/bin/false";
  const absl::Status voice = EspeakG2p::Create(options).status();
  EXPECT_EQ(voice.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(voice.message().find("cannot speak with the voice 'es'"), std::string::npos) << voice;
  EXPECT_NE(voice.message().find("--voices"), std::string::npos) << voice;
}

TEST(EspeakG2pTest, AFailureOfTheProgramEndsTheSentenceAlone) {
  const auto g2p = Make();
  EXPECT_EQ(g2p->Phonemize("die", false).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(g2p->Phonemize("Hola", false).ok());
}

}  // namespace
}  // namespace millrace::models
