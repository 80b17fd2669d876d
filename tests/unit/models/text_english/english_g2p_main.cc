// Phonemes of the lines of standard input, one sentence each; with --words one word each, from
// espeak-ng alone.
//
// usage: english_g2p_main <lexicon> [--no-fallback | --words] < lines

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "models/text/english/english_g2p.h"
#include "models/text/english/espeak_fallback.h"

int main(int argc, char** argv) {
  using namespace millrace::models;
  if (argc < 2) {
    std::cerr << "usage: english_g2p_main <lexicon> [--no-fallback | --words] < lines\n";
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
  for (std::string line; std::getline(std::cin, line);) {
    const auto tokens = g2p.Phonemize(line);
    if (tokens.ok()) {
      std::cout << JoinPhonemes(*tokens).phonemes << "\n";
    } else {
      std::cout << tokens.status() << "\n";
    }
  }
}
