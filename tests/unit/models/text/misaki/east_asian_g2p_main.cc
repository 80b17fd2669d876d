// Phonemes of the lines of standard input, one sentence each, as the voices for Japanese or Chinese
// are given them.
//
// usage: east_asian_g2p_main ja <words> | zh <lexicon> | written
//
// written: prints Chinese sentences with their numbers written out instead.

#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "models/text/chinese/chinese_g2p.h"
#include "models/text/chinese/chinese_text.h"
#include "models/text/english/espeak_fallback.h"
#include "models/text/japanese/japanese_g2p.h"
#include "models/text/unicode.h"

namespace {

using namespace millrace::models;

int PrintPhonemes(const auto& g2p) {
  for (std::string line; std::getline(std::cin, line);) {
    const auto phonemes = g2p.Phonemize(line);
    std::cout << (phonemes.ok() ? phonemes->phonemes : phonemes.status().ToString()) << "\n";
  }
  return 0;
}

int PrintWritten() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto written = WriteChineseOut(line);
    if (written.ok()) {
      for (const char32_t c : written->text) std::cout << EncodeUtf8(c);
    }
    std::cout << "\n";
  }
  return 0;
}

int Fail(const absl::Status& status) {
  std::cerr << status << "\n";
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string_view("written")) return PrintWritten();
  const std::string_view language = argc == 3 ? argv[1] : "";
  if (language == "zh") {
    auto lexicon = ChineseLexicon::Open(argv[2]);
    if (!lexicon.ok()) return Fail(lexicon.status());
    auto english = EspeakFallback::Create({});
    if (!english.ok()) return Fail(english.status());
    return PrintPhonemes(ChineseG2p(*std::move(lexicon), *std::move(english)));
  }
  if (language == "ja") {
    auto words = JapaneseWords::Open(argv[2]);
    if (!words.ok()) return Fail(words.status());
    auto analyzer = MorphologicalAnalyzer::Open();
    if (!analyzer.ok()) return Fail(analyzer.status());
    return PrintPhonemes(JapaneseG2p(*std::move(analyzer), *std::move(words)));
  }
  std::cerr << "usage: east_asian_g2p_main ja <words> | zh <lexicon> | written\n";
  return 2;
}
