// Texts that make readers look ahead, nest or give up, as long as a request may be. Each must be
// read, cut and restored in a few hundredths of a second; what is not linear meets the time limit
// of the test.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "models/text/unicode.h"
#include "models/translation/markup/restore.h"
#include "models/translation/markup/source_sentences.h"

namespace millrace::translation {
namespace {

// Long enough for what is not linear to take far longer than the time limit of a test.
constexpr size_t kLongText = 50'000;
// The size of texts of which there are many. Sanitizers find in short ones what they look for; the
// time is that of a build without them.
#ifdef MILLRACE_SANITIZED
constexpr size_t kRepeatedText = 5'000;
constexpr size_t kMixedText = 2'500;
#else
constexpr size_t kRepeatedText = kLongText;
constexpr size_t kMixedText = 12'500;
#endif
constexpr models::TextFormat kFormats[] = {models::TextFormat::kText, models::TextFormat::kHtml,
                                           models::TextFormat::kMarkdown};

constexpr std::string_view kParts[] = {"[",
                                       "](",
                                       "[](",
                                       "*",
                                       "**",
                                       "_",
                                       "`",
                                       "``",
                                       "<",
                                       "</",
                                       "<a ",
                                       "<!--",
                                       "&",
                                       "&amp",
                                       "&amp;",
                                       "{{",
                                       "${",
                                       "%",
                                       "|",
                                       "> ",
                                       "- ",
                                       "\\",
                                       "<0>",
                                       ":x:",
                                       "@",
                                       "#",
                                       "http://",
                                       "a.",
                                       "$5",
                                       "<b><i>",
                                       "<b>",
                                       "</b>",
                                       "~~",
                                       "![",
                                       "]",
                                       "(",
                                       ")",
                                       "<br>",
                                       "<img>",
                                       "<code>",
                                       "<p>",
                                       "\n",
                                       "a ",
                                       "A. ",
                                       "{a} ",
                                       "X1 ",
                                       "1,000 ",
                                       "='",
                                       "<a b='",
                                       "<a \"",
                                       "```\n",
                                       "|a|\n",
                                       "&nbsp;",
                                       "&nbsp;a ",
                                       "<x translate=no>",
                                       "_a_ ",
                                       "[a](b) ",
                                       "*a **b",
                                       "&lt;",
                                       "&lt;b",
                                       "&lt;b&gt;",
                                       "[^1]",
                                       "[^",
                                       "[^1]: ",
                                       "a@b.",
                                       "日本",
                                       "é",
                                       "\t",
                                       "\r\n",
                                       "' \"",
                                       "<b c=\"d\" ",
                                       "$$ x\n",
                                       "\\[\n",
                                       "{/*",
                                       "<a b={",
                                       "<pre>\n",
                                       "[\n",
                                       "{% code %}\n",
                                       "> ```\n",
                                       "export {\n"};

std::string Repeated(std::string_view part, size_t bytes = kLongText) {
  std::string text;
  text.reserve(bytes + part.size());
  while (text.size() < bytes) text += part;
  return text;
}

// The way of a text through a translation: bytes that were given to the model.
size_t TranslateByCopying(std::string_view text, models::TextFormat format) {
  constexpr size_t kPart = 512;  // bytes, of about as many words of a vocabulary as a model reads
  size_t translated = 0;
  std::string out;
  for (SourceSentence& sentence : ReadSentences(text, format, "en", {})) {
    for (bool last = false; !last;) {
      last = sentence.marked.text.size() <= kPart;
      const SourceSentence part = last ? std::move(sentence) : TakeFront(sentence, kPart);
      if (!part.has_words) {
        out += Untouched(part.marked) + part.behind;
        continue;
      }
      const std::string& target = part.marked.text;
      translated += target.size();
      std::vector<AlignedPiece> pieces;
      for (size_t at = 0; at < target.size();) {
        const size_t end = at + models::DecodeAt(target, at).bytes;
        pieces.push_back({at, end, at});
        at = end;
      }
      out += Restore(part.marked, target, pieces) + part.behind;
      // A model that loses every stand-in.
      Restore(part.marked, std::string(target.size(), 'y'), {});
    }
  }
  EXPECT_GE(out.size() + 1, text.size());
  return translated;
}

TEST(WorstCaseTest, OneThingOverAndOver) {
  for (const std::string_view part : kParts) {
    for (const models::TextFormat format : kFormats) {
      const std::string text = Repeated(part, kRepeatedText);
      TranslateByCopying(text, format);
      TranslateByCopying("a" + text, format);
    }
  }
}

TEST(WorstCaseTest, TwoThingsInTurn) {
  // Each with another; which one does not matter.
  for (size_t i = 0; i < std::size(kParts); ++i) {
    const std::string_view other = kParts[(i + 18) % std::size(kParts)];
    const std::string text = Repeated(std::string(kParts[i]).append(other), kMixedText);
    for (const models::TextFormat format : kFormats) TranslateByCopying(text, format);
  }
}

TEST(WorstCaseTest, MuchOfOneBeforeMuchOfAnother) {
  for (size_t i = 0; i < std::size(kParts); ++i) {
    const std::string_view other = kParts[(i + 5) % std::size(kParts)];
    const std::string text = Repeated(kParts[i], kMixedText) + Repeated(other, kMixedText);
    for (const models::TextFormat format : kFormats) TranslateByCopying(text, format);
  }
}

TEST(WorstCaseTest, DeepNestingNeedsNoDeepStack) {
  for (const std::string_view opening :
       {"<b>", "<b><i>", "<div>", "<x translate=no>", "[", "**a *b "}) {
    const std::string text = Repeated(opening);
    for (const models::TextFormat format : kFormats) TranslateByCopying(text, format);
  }
  const std::string nested = Repeated("<b><i>") + "word" + Repeated("</i></b>");
  TranslateByCopying(nested, models::TextFormat::kHtml);
}

TEST(WorstCaseTest, WhatHasNoWordsCostsAModelNothing) {
  for (const std::string_view part : {"[", "&amp&amp", "[ ", "<", "* ", "a[[", "&x", "ab:", "→"}) {
    for (const models::TextFormat format : kFormats)
      EXPECT_LE(TranslateByCopying(Repeated(part), format), 100u) << part;
  }
}

TEST(WorstCaseTest, TermsThatNearlyMatchEverywhere) {
  models::TermIndex terms;
  std::vector<std::string> names;
  for (int i = 0; i < 500; ++i) {
    names.push_back(std::string(198, '!') + std::to_string(i % 10) + std::to_string(i));
    names.push_back(Repeated("a ").substr(0, 190) + std::to_string(i));
  }
  for (const std::string& name : names) terms.Add(name, {});
  terms.Build();
  for (const std::string_view part : {"!", "a ", "A "})
    ReadSentences(Repeated(part), models::TextFormat::kText, "en", terms);
}

}  // namespace
}  // namespace millrace::translation
