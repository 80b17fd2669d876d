// Measures the cost of reading, splitting and restoring a text of 100,000 characters without the
// model, for the worst texts: milliseconds for a text.
//
// usage: markup_bench [--benchmark_filter=...]

#include <benchmark/benchmark.h>

#include <array>
#include <string>
#include <string_view>
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

void BM_Markup(benchmark::State& state, std::string_view piece, models::TextFormat format) {
  std::string text;
  while (text.size() < kCharacters) text += piece;
  for (auto _ : state) {
    for (SourceSentence& sentence : ReadSentences(text, format, "en", {}))
      Copy(std::move(sentence));
  }
}

}  // namespace
}  // namespace millrace::translation

int main(int argc, char** argv) {
  using millrace::models::TextFormat;
  for (const std::string_view piece : millrace::translation::kWorst) {
    for (const auto& [name, format] :
         {std::pair("text", TextFormat::kText), std::pair("html", TextFormat::kHtml),
          std::pair("markdown", TextFormat::kMarkdown)}) {
      std::string title(piece.substr(0, piece.find('\n')));
      benchmark::RegisterBenchmark((std::string(name) + " '" + title + "'").c_str(),
                                   millrace::translation::BM_Markup, piece, format)
          ->Unit(benchmark::kMillisecond);
    }
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
