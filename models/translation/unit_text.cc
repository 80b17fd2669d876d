#include "models/translation/unit_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "models/text/unicode.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/restore.h"

namespace millrace::translation {
namespace {

constexpr char32_t kReplacementCharacter = 0xFFFD;

}  // namespace

SourceShape ShapeOf(const TranslationSettings& settings, const TranslationUnit& unit) {
  const MarkedText& marked = unit.sentence.marked;
  const bool begins_kept = !marked.kept.empty() && marked.kept.front().begin == 0;
  return {.text = marked.text,
          .target_language = settings.target_language,
          .any_first_letter = begins_kept || unit.in_capitals || !unit.begun.empty(),
          .has_marks = !unit.sentence.is_bare};
}

std::string TextOf(const TranslationUnit& unit, std::span<const int32_t> tokens,
                   const Vocabularies& vocabularies) {
  if (unit.in_capitals) return InCapitals(vocabularies.target->Decode(tokens));
  if (unit.begun.empty()) return vocabularies.target->Decode(tokens);
  std::vector<int32_t> all = unit.begun;
  all.insert(all.end(), tokens.begin(), tokens.end());
  return vocabularies.target->Decode(all);
}

std::string StableText(const TranslationSettings& settings, const TranslationUnit& unit,
                       const Vocabularies& vocabularies) {
  const std::vector<int32_t>& target = unit.job.target;
  if (target.size() < 2) return {};
  std::string text = TextOf(unit, target, vocabularies);
  const std::string before = TextOf(unit, std::span(target).first(target.size() - 1), vocabularies);
  const auto differs = std::ranges::mismatch(before, text).in1;
  text.resize(static_cast<size_t>(differs - before.begin()));
  // Neither half a character nor a replacement character is sent.
  for (size_t at = 0; at < text.size();) {
    const models::CodePoint c = models::DecodeAt(text, at);
    if (c.value == kReplacementCharacter) {
      text.resize(at);
      break;
    }
    at += c.bytes;
  }
  return BegunLike(ShapeOf(settings, unit), std::move(text));
}

MarkedText Restored(const TranslationPlan& plan, const TranslationUnit& unit,
                    std::span<const int32_t> tokens, std::span<const int32_t> alignment,
                    const Vocabularies& vocabularies) {
  const TranslationSettings& settings = plan.settings();
  // A translation that the request cuts need not end as its source does.
  const bool is_cut = settings.max_target != 0;
  const SourceShape shape = ShapeOf(settings, unit);
  const std::string text = is_cut ? BegunLike(shape, TextOf(unit, tokens, vocabularies))
                                  : ShapedLike(shape, TextOf(unit, tokens, vocabularies));
  if (unit.sentence.is_plain) return {.text = text};
  const MarkedText& marked = unit.sentence.marked;
  std::vector<AlignedPiece> pieces;
  if (!alignment.empty()) {
    std::vector<int32_t> all = unit.begun;
    all.insert(all.end(), tokens.begin(), tokens.end());
    const std::vector<size_t> sources = vocabularies.source->PlacesOf(marked.text);
    const std::vector<size_t> ends = vocabularies.target->EndsOf(all);
    for (size_t i = 0; i < ends.size(); ++i) {
      // Tokens of the prescribed beginning have no alignment.
      size_t source = 0;
      if (i >= unit.begun.size()) {
        const auto token = static_cast<size_t>(alignment[i - unit.begun.size()]);
        const size_t place = token - settings.frame.before.size();
        // A token of the frame is none of the sentence's tokens.
        source = place < sources.size() ? sources[place] : marked.text.size();
      }
      // The text may be cut or longer at its end.
      const size_t end = i + 1 == ends.size() ? text.size() : std::min(ends[i], text.size());
      pieces.push_back({pieces.empty() ? 0 : pieces.back().end, end, source});
    }
  }
  return RestoreMarks(marked, text, pieces, plan.formats());
}

}  // namespace millrace::translation
