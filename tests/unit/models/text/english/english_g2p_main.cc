// Phonemes of the lines of standard input, one sentence each; with --words one word each, from
// espeak-ng alone; with --voices each line, the words that are read, and the phonemes of a Kokoro
// voice and of a Piper voice, separated by tabs.
//
// usage: english_g2p_main <lexicon> [--no-fallback | --words | --voices] < lines

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "models/text/english/english_g2p.h"
#include "models/text/english/espeak_fallback.h"
#include "models/text/english/respelled_text.h"
#include "models/text/phonemizer.h"
#include "models/text/sentence_splitter.h"

namespace {

using namespace millrace::models;

// Prints every line as both kinds of voices read it.
int PrintVoices(const EnglishG2p& g2p) {
  const TextNormalizer normalizer(g2p.dialect());
  const auto phonemizer =
      Phonemizer::Create({.voice = g2p.dialect() == EnglishDialect::kUs ? "en-us" : "en-gb"});
  if (!phonemizer.ok()) {
    std::cerr << phonemizer.status() << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::string words;
    std::string kokoro;
    std::string piper;
    for (const Sentence& sentence : SplitSentences(line, {.joins_short_lines = true})) {
      const auto tokens = g2p.Phonemize(sentence.text);
      const RespelledText respelled = RespellForEspeak(normalizer, sentence.text);
      const auto phonemes = (*phonemizer)->Phonemize(respelled.text, /*has_phonemes=*/true);
      if (!tokens.ok() || !phonemes.ok()) {
        std::cerr << line << ": " << tokens.status() << ", " << phonemes.status() << "\n";
        return 1;
      }
      const std::string_view divider = words.empty() ? "" : " || ";
      words += std::string(divider) + respelled.text;
      kokoro += std::string(divider) + JoinPhonemes(*tokens).phonemes;
      piper += std::string(divider) + *phonemes;
    }
    std::cout << line << "\t" << words << "\t" << kokoro << "\t" << piper << "\n";
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace millrace::models;
  if (argc < 2) {
    std::cerr << "usage: english_g2p_main <lexicon> [--no-fallback | --words | --voices] < lines\n";
    return 2;
  }
  auto lexicon = EnglishLexicon::Open(argv[1]);
  if (!lexicon.ok()) {
    std::cerr << lexicon.status() << "\n";
    return 1;
  }
  EnglishG2p::Options options;
  const std::string mode = argc > 2 ? argv[2] : "";
  if (mode != "--no-fallback") {
    EspeakFallback::Options espeak;
    espeak.dialect = lexicon->dialect();
    auto fallback = EspeakFallback::Create(espeak);
    if (!fallback.ok()) {
      std::cerr << fallback.status() << "\n";
      return 1;
    }
    options.fallback = *std::move(fallback);
  }
  if (mode == "--words") {
    std::vector<std::string> words;
    for (std::string line; std::getline(std::cin, line);) words.push_back(line);
    const auto answers = options.fallback->Phonemize(words);
    if (!answers.ok()) {
      std::cerr << answers.status() << "\n";
      return 1;
    }
    for (const std::string& answer : *answers) std::cout << answer << "\n";
    return 0;
  }
  const EnglishG2p g2p(*std::move(lexicon), std::move(options));
  if (mode == "--voices") return PrintVoices(g2p);
  for (std::string line; std::getline(std::cin, line);) {
    const auto tokens = g2p.Phonemize(line);
    if (tokens.ok()) {
      std::cout << JoinPhonemes(*tokens).phonemes << "\n";
    } else {
      std::cout << tokens.status() << "\n";
    }
  }
}
