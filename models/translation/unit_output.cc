#include "models/translation/unit_output.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/text/unspaced_script.h"
#include "models/translation/markup/numeric_text.h"
#include "models/translation/subject_repair.h"
#include "models/translation/unit_text.h"

namespace millrace::translation {
namespace {

size_t CountIn(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Returns what follows the translation of a sentence. Chinese and Japanese have no space between
// sentences, where other languages have one.
std::string BehindOf(const TranslationUnit& unit, std::string_view translation) {
  const std::string& behind = unit.sentence.behind;
  const bool was_unspaced = models::EndsUnspaced(unit.sentence.marked.text);
  if (unit.copied || was_unspaced == models::EndsUnspaced(translation)) return behind;
  if (!was_unspaced) {
    // There may be markup before the space between sentences.
    const size_t space = behind.find_last_not_of(' ') + 1;  // npos + 1 is 0
    return behind.find_first_of(" \n\r\t") == space ? behind.substr(0, space) : behind;
  }
  return behind.empty() && !unit.text_finished && !translation.empty() ? " " : behind;
}

// Returns the protected and unread parts of a sentence that its translation lacks.
std::vector<std::string> LostOf(const TranslationUnit& unit, std::string_view translation) {
  std::map<std::string_view, size_t> wanted;
  for (const KeptSpan& kept : unit.sentence.marked.kept) ++wanted[kept.becomes];
  for (const std::string& part : unit.unread) ++wanted[part];
  std::vector<std::string> lost = unit.missing;
  for (const auto& [part, count] : wanted) {
    if (!part.empty() && CountIn(translation, part) < count) lost.emplace_back(part);
  }
  return lost;
}

}  // namespace

void Emit(const Participant& participant, TranslationUnit& unit, const Vocabularies& vocabularies) {
  const models::TranslateInput& input = participant.input();
  models::TranslateOutput output;
  output.text_index = unit.text;
  output.text_finished = unit.text_finished;
  std::string behind = BehindOf(unit, unit.translated.text);
  const bool is_copied = unit.copied;
  MarkedText translated = is_copied ? CopyOf(unit.sentence) : std::move(unit.translated);
  if (!unit.sentence.has_words) ConvertNumbers(translated, participant.plan->formats());
  output.text = Untouched(translated);
  if (!is_copied) {
    output.lost = LostOf(unit, output.text);
    output.text.erase(0, std::min(unit.emitted, output.text.size()));
    output.source_tokens = static_cast<int64_t>(unit.tokens);
    output.target_tokens = static_cast<int64_t>(unit.begun.size() + unit.job.target.size());
    const std::vector<Hypothesis>& found = unit.job.found;
    if (!found.empty()) output.score = found.front().score;
    for (size_t i = 1; i < found.size(); ++i) {
      const MarkedText other = Restored(*participant.plan, unit, found[i].tokens, {}, vocabularies);
      output.alternatives.push_back(
          {Untouched(other) + BehindOf(unit, other.text), found[i].score});
    }
  }
  output.text += behind;
  const bool is_marked = !unit.sentence.is_plain || input.format != models::TextFormat::kText;
  if (input.for_pivot && is_marked) {
    output.pivot_sentence =
        std::make_shared<const TranslatedSentence>(std::move(translated), std::move(behind));
  }
  participant.request->Emit(std::move(output));
}

void EmitPart(const Participant& participant, TranslationUnit& unit,
              const Vocabularies& vocabularies) {
  if (!unit.in_pieces) return;
  const TranslationSettings& settings = participant.plan->settings();
  std::string text = StableText(settings, unit, vocabularies);
  // Nothing is sent before it is known whether the subject lacks a word, which Review puts back.
  if (text.size() <= unit.emitted ||
      (unit.emitted == 0 && MayLackSubjectWord(unit.sentence.marked.text, settings.source_language,
                                               text, settings.target_language)))
    return;
  models::TranslateOutput output;
  output.text_index = unit.text;
  output.text = text.substr(unit.emitted);
  output.sentence_finished = false;
  unit.emitted = text.size();
  participant.request->Emit(std::move(output));
}

}  // namespace millrace::translation
