#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {

using List = std::vector<std::string>;

inline std::vector<SourceSentence> Read(std::string_view text, models::TextFormat format,
                                        const models::TermIndex& terms = {}) {
  return ReadSentences(text, format, "en", terms);
}

inline List Texts(std::string_view text, models::TextFormat format) {
  List texts;
  for (const SourceSentence& sentence : Read(text, format)) {
    if (!sentence.marked.text.empty()) texts.push_back(sentence.marked.text);
  }
  return texts;
}

inline std::string Joined(std::string_view text, models::TextFormat format) {
  std::string joined;
  for (const SourceSentence& sentence : Read(text, format))
    joined += Untouched(sentence.marked) + sentence.behind;
  return joined;
}

// Returns the text that a model makes of it that changes nothing.
inline std::string Echoed(std::string_view text, models::TextFormat format) {
  std::string joined;
  for (const SourceSentence& sentence : Read(text, format))
    joined += Restore(sentence.marked, sentence.marked.text, {}) + sentence.behind;
  return joined;
}

inline constexpr models::TextFormat kText = models::TextFormat::kText;
inline constexpr models::TextFormat kHtml = models::TextFormat::kHtml;
inline constexpr models::TextFormat kMarkdown = models::TextFormat::kMarkdown;

}  // namespace millrace::translation
