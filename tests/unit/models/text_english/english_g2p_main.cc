// Phonemes of the lines of standard input, one sentence each.
//
// usage: english_g2p_main <lexicon> [--no-fallback] < sentences

#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "models/text/english/english_g2p.h"
#include "models/text/english/espeak_fallback.h"

int main(int argc, char** argv) {
  using namespace millrace::models;
  if (argc < 2) {
    std::cerr << "usage: english_g2p_main <lexicon> [--no-fallback] < sentences\n";
    return 2;
  }
  auto lexicon = EnglishLexicon::Open(argv[1]);
  if (!lexicon.ok()) {
    std::cerr << lexicon.status() << "\n";
    return 1;
  }
  EnglishG2p::Options options;
  if (argc < 3) {
    EspeakFallback::Options espeak;
    espeak.dialect = lexicon->dialect();
    auto fallback = EspeakFallback::Create(espeak);
    if (!fallback.ok()) {
      std::cerr << fallback.status() << "\n";
      return 1;
    }
    options.fallback = *std::move(fallback);
  }
  const EnglishG2p g2p(*std::move(lexicon), std::move(options));
  for (std::string line; std::getline(std::cin, line);) {
    const auto tokens = g2p.Phonemize(line);
    if (tokens.ok()) {
      std::cout << JoinPhonemes(*tokens) << "\n";
    } else {
      std::cout << tokens.status() << "\n";
    }
  }
}
