// Measures the cost of reading, splitting and restoring a text of 100,000 characters without the
// model, for the worst texts: milliseconds for a text.
//
// usage: markup_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <array>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/unicode.h"
#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

constexpr size_t kCharacters = 100'000;
constexpr size_t kPartBytes = 512;  // about as much as a model reads in one pass

constexpr std::array<std::string_view, 16> kWorst = {"The <b>red</b> house is {here}. ",
                                                     "[",
                                                     "[a](b) ",
                                                     "*a **b",
                                                     "*a* ",
                                                     "`a` ",
                                                     "&amp&amp",
                                                     "&nbsp;a ",
                                                     "&lt;b",
                                                     "<b><i>",
                                                     "<a \"",
                                                     "<b>a</b> ",
                                                     "{a} ",
                                                     "|a|\n",
                                                     "[^1]",
                                                     "A. "};

void Copy(SourceSentence sentence) {
  for (bool last = false; !last;) {
    last = sentence.marked.text.size() <= kPartBytes;
    const SourceSentence part = last ? std::move(sentence) : TakeFront(sentence, kPartBytes);
    const std::string& text = part.marked.text;
    std::vector<AlignedPiece> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t end = at + models::DecodeAt(text, at).bytes;
      pieces.push_back({at, end, at});
      at = end;
    }
    benchmark::DoNotOptimize(part.has_words ? Restore(part.marked, text, pieces)
                                            : Untouched(part.marked));
  }
}

std::string Repeated(std::string_view piece) {
  std::string text;
  while (text.size() < kCharacters) text += piece;
  return text;
}

// Words of one letter and marks among them that never come in the same order again.
std::string OneLetterGarbage() {
  constexpr std::string_view kCharactersOfIt = "abcdefgh     []()*_`&;<>{}|!.";
  std::mt19937 random(1);
  std::string text;
  while (text.size() < kCharacters) {
    text += kCharactersOfIt[random() % kCharactersOfIt.size()];
    if (text.back() >= 'a' && text.back() <= 'h') text += ' ';
  }
  return text;
}

// Sentences of words of all lengths, to compare with.
std::string Prose() {
  std::mt19937 random(1);
  std::string text;
  while (text.size() < kCharacters) {
    for (size_t words = 5 + random() % 15; words > 0; --words) {
      for (size_t letters = 1 + random() % 9; letters > 0; --letters)
        text += static_cast<char>('a' + random() % 26);
      text += words == 1 ? ". " : " ";
    }
  }
  return text;
}

void BM_Markup(benchmark::State& state, const std::string& text, models::TextFormat format) {
  for (auto _ : state) {
    for (SourceSentence& sentence : ReadSentences(text, format, "en", {}))
      Copy(std::move(sentence));
  }
}

}  // namespace
}  // namespace millrace::translation

int main(int argc, char** argv) {
  using millrace::models::TextFormat;
  std::vector<std::pair<std::string, std::string>> texts;  // by their titles
  for (const std::string_view piece : millrace::translation::kWorst) {
    texts.emplace_back("'" + std::string(piece.substr(0, piece.find('\n'))) + "'",
                       millrace::translation::Repeated(piece));
  }
  texts.emplace_back("one-letter garbage", millrace::translation::OneLetterGarbage());
  texts.emplace_back("prose", millrace::translation::Prose());
  for (const auto& [title, text] : texts) {
    for (const auto& [name, format] :
         {std::pair("text", TextFormat::kText), std::pair("html", TextFormat::kHtml),
          std::pair("markdown", TextFormat::kMarkdown)}) {
      benchmark::RegisterBenchmark((std::string(name) + " " + title).c_str(),
                                   millrace::translation::BM_Markup, text, format)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
