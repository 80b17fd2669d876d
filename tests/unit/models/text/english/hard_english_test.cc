// Text that is not written in words, and words that are spelled alike, as both kinds of voices read
// them.

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/ascii.h"
#include "models/text/english/respelled_text.h"
#include "models/text/english/text_normalizer.h"
#include "models/text/phonemizer.h"

namespace millrace::models {
namespace {

std::vector<std::array<std::string, 3>> ReadRows(const std::string& name) {
  std::ifstream stream(MILLRACE_TEST_DATA "/" + name);
  std::vector<std::array<std::string, 3>> rows;
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find('\t');
    const size_t second = line.find('\t', first + 1);
    rows.push_back({line.substr(0, first), line.substr(first + 1, second - first - 1),
                    line.substr(second + 1)});
  }
  return rows;
}

// Words in small letters with one space between; letters with stops stand apart, marks are left
// out.
std::string Words(std::string_view reading) {
  std::string words;
  for (size_t at = 0; at < reading.size(); ++at) {
    const char c = AsciiLower(reading[at]);
    if (IsAsciiLower(c) || c == '\'') {
      words += c;
    } else if (!words.empty() && !words.ends_with(' ')) {
      words += ' ';
    }
  }
  while (words.ends_with(' ')) words.pop_back();
  return words;
}

std::string ReadByKokoro(std::string_view text) {
  std::string reading;
  for (const SpokenWord& word : TextNormalizer(EnglishDialect::kUs).Normalize(text))
    reading += word.text + word.after;
  return Words(reading);
}

std::string ReadByPiper(std::string_view text) {
  const RespelledText respelled = RespellForEspeak(TextNormalizer(EnglishDialect::kUs), text);
  std::string spoken = respelled.text;
  // A word that is given by its sounds, as it is written.
  for (const PartToSpeak& part : respelled.words) {
    if (!part.spoken.starts_with("[[")) continue;
    const size_t at = spoken.find("[[");
    const std::string_view written = text.substr(part.begin, part.end - part.begin);
    spoken.replace(at, spoken.find("]]", at) + 2 - at,
                   written.substr(0, written.find_first_of("-. ")));
  }
  std::string words = Words(spoken) + " ";
  // The name of the letter.
  for (size_t at = 0; (at = words.find("eigh ", at)) != std::string::npos;)
    words.replace(at, 5, "a ");
  words.pop_back();
  return words;
}

TEST(HardEnglishTest, BothKindsOfVoicesReadWhatIsNoWordAsPeopleDo) {
  const auto rows = ReadRows("hard_english.txt");
  ASSERT_GE(rows.size(), 70U);
  for (auto* read : {&ReadByKokoro, &ReadByPiper}) {
    for (const auto& [kind, text, expected] : rows)
      EXPECT_EQ(read(text), expected) << kind << (read == &ReadByPiper ? ", Piper" : ", Kokoro");
  }
}

TEST(HardEnglishTest, WordsOfTheSourceKeepTheirPlaces) {
  const TextNormalizer normalizer(EnglishDialect::kUs);
  const auto shown = [&](std::string_view text) {
    std::string shown;
    for (const PartToSpeak& part : RespellForEspeak(normalizer, text).words) {
      shown +=
          std::string(text.substr(part.begin, part.end - part.begin)) + "=" + part.spoken + "|";
    }
    return shown;
  };
  EXPECT_EQ(shown("Of \"I am\" the 1984 one, for $5."),
            "Of=Of|I=I|am=am|the=the|1984=nineteen eighty four|one=one|for=for|$5=five dollars|");
  EXPECT_EQ(shown("On May 5, 1990, an A/B test (see p. 3)."),
            "On=On|May 5, 1990=may fifth nineteen ninety|an=an|A/B=eigh B|test=test|see=see|"
            "p=page|3=three|");
  EXPECT_EQ(shown("COVID-19, 50%-75% well-known"),
            "COVID-19=[[k'oUvId]] nineteen|50%-75%=fifty percent to seventy five percent|"
            "well-known=well-known|");
  EXPECT_EQ(shown("..."), "");
}

#ifdef MILLRACE_HAS_ESPEAK
TEST(HardEnglishTest, EspeakSaysHeteronymsByWhatTheyAreInTheirSentence) {
  auto phonemizer = Phonemizer::Create({.voice = "en-us"});
  ASSERT_TRUE(phonemizer.ok()) << phonemizer.status();
  const TextNormalizer normalizer(EnglishDialect::kUs);
  for (const auto& [sentence, word, expected] : ReadRows("heteronyms.txt")) {
    const RespelledText text = RespellForEspeak(normalizer, sentence);
    const auto phonemes =
        (*phonemizer)->PhonemizeParts(text.text, text.words, /*has_phonemes=*/true);
    ASSERT_TRUE(phonemes.ok()) << phonemes.status();
    std::string sound;
    for (const PhonemeWord& found : phonemes->words) {
      if (AsciiLower(std::string_view(sentence).substr(found.begin, found.end - found.begin)) !=
          word)
        continue;
      sound = phonemes->phonemes.substr(found.phonemes_begin,
                                        found.phonemes_end - found.phonemes_begin);
    }
    for (const std::string_view mark : {"ˈ", "ˌ", "ː"}) {
      for (size_t at = 0; (at = sound.find(mark)) != std::string::npos;)
        sound.erase(at, mark.size());
    }
    // The accounts of one sound differ in these symbols.
    for (const auto& [from, to] :
         {std::pair<std::string_view, std::string_view>{"ɜ", "ɝ"}, {"oɹ", "ɔɹ"}}) {
      for (size_t at = 0; (at = sound.find(from, at)) != std::string::npos; at += to.size())
        sound.replace(at, from.size(), to);
    }
    EXPECT_NE(sound.find(expected), std::string::npos) << sentence << " has " << sound;
  }
}
#endif

}  // namespace
}  // namespace millrace::models
