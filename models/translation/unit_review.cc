#include "models/translation/unit_review.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/translation/carrier_sentence.h"
#include "models/translation/clause_cut.h"
#include "models/translation/source_shape.h"
#include "models/translation/subject_repair.h"
#include "models/translation/translation_guard.h"
#include "models/translation/unit_text.h"

namespace millrace::translation {
namespace {

// Returns the text with nothing that the guard would compare in its kept spans.
std::string WithoutKept(const MarkedText& marked) {
  std::string text = marked.text;
  for (const KeptSpan& kept : marked.kept)
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(kept.begin), kept.end - kept.begin, '_');
  return text;
}

}  // namespace

bool UnitReview::Review(const Participant& participant, size_t index) const {
  const TranslationPlan& plan = *participant.plan;
  TranslationUnit& unit = participant.plan->units()[index];
  if (unit.bare) {
    TakeCarried(plan, unit);
    return false;
  }
  if (unit.whole) TakeSubject(plan.settings().target_language, unit);
  const SentenceJob& job = unit.job;
  unit.translated = Restored(plan, unit, job.target, job.alignment, vocabularies_);
  unit.reviewed = true;
  const TranslationSettings& settings = plan.settings();
  const MarkedText& marked = unit.sentence.marked;
  const std::string source = WithoutKept(marked);
  const std::string target = WithoutKept(unit.translated);
  const bool limited_by_request = settings.max_target != 0;
  const GuardVerdict verdict = InspectTranslation(
      {.source = source,
       .target = target,
       .source_language = settings.source_language,
       .source_tokens = std::span(job.source).subspan(settings.frame.before.size(), unit.tokens),
       .target_tokens = job.target,
       .alignment = job.alignment,
       .frame_before = settings.frame.before.size(),
       .reached_limit = !limited_by_request && job.target.size() >= job.max_target,
       .formats = plan.formats()});
  // A translation that may be sent in pieces stays even if none was sent yet: that depends on the
  // other requests and on the cache. One as long as the request wants it stays, too.
  const bool final =
      unit.in_pieces || !unit.begun.empty() || limited_by_request || settings.min_target != 0;
  if (!final && unit.sentence.is_plain && unit.level == 0 && !unit.is_part) {
    if ((verdict.lost_content || IsUncertainWord(source, target, settings.target_language)) &&
        Carry(participant, CarrierSentence(marked.text, settings.source_language),
              verdict.lost_content, unit))
      return true;
    unit.is_small_word = IsTakenForName(marked.text, target) &&
                         Carry(participant, SmallWord(marked.text, settings.source_language),
                               /*lost_content=*/false, unit);
    if (unit.is_small_word) return true;
  }
  // Nothing was sent of a sentence that lacks a word of its subject.
  if ((!final || (unit.in_pieces && unit.emitted == 0)) && !verdict.suspicious &&
      unit.begun.empty() && !limited_by_request && settings.min_target == 0 &&
      TranslateSubject(participant, source, target, unit))
    return true;
  if (!verdict.suspicious || limited_by_request) return false;
  if (!final && Divide(participant, index, verdict)) return true;
  for (const std::string_view part : verdict.lost_parts) unit.missing.emplace_back(part);
  if (verdict.lost_content) unit.missing.push_back(Untouched(marked));
  const bool is_blank = target.find_first_not_of(' ') == std::string::npos;
  if (is_blank && unit.emitted == 0 && unit.begun.empty()) unit.translated = marked;
  return false;
}

bool UnitReview::IsTakenForName(std::string_view source, std::string_view target) const {
  constexpr size_t kManyPieces = 3;
  constexpr std::string_view kSpace = " ";
  constexpr size_t kRoot = 4;  // the bytes that words of one root begin with
  return !target.empty() && source.find(kSpace) == std::string_view::npos &&
         target.find(kSpace) == std::string_view::npos &&
         source.substr(0, kRoot) != target.substr(0, kRoot) &&
         vocabularies_.target->Encode(target, kManyPieces).tokens.size() == kManyPieces;
}

bool UnitReview::Carry(const Participant& participant, const std::optional<std::string>& read,
                       bool lost_content, TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  if (!read || !is_greedy || unit.in_capitals || !unit.unread.empty()) return false;
  if (unit.remember) cache_.Insert(unit.job);
  if (lost_content) unit.missing.push_back(Untouched(unit.sentence.marked));
  unit.bare = unit.translated.text;
  unit.reviewed = false;
  const size_t tokens = unit.tokens;
  starter_.Begin(participant, unit, vocabularies_.source->Encode(*read, max_source_tokens_).tokens);
  unit.tokens = tokens;
  return true;
}

bool UnitReview::TranslateSubject(const Participant& participant, std::string_view source,
                                  std::string_view target, TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  const bool is_sentence = unit.level == 0 && !unit.is_part && !unit.in_capitals;
  if (unit.subject_done || !is_greedy || !is_sentence || !unit.unread.empty() ||
      !LacksSubjectWord(source, settings.source_language, target, settings.target_language))
    return false;
  const std::string& text = unit.sentence.marked.text;
  const std::string subject = text.substr(0, SubjectBytes(source, settings.source_language));
  std::vector<int32_t> tokens = vocabularies_.source->Encode(subject, max_source_tokens_).tokens;
  // The places of its tokens are those of the sentence's.
  const std::span<const int32_t> all =
      std::span(unit.job.source).subspan(settings.frame.before.size(), unit.tokens);
  if (tokens.size() >= all.size() || !std::ranges::equal(tokens, all.first(tokens.size())))
    return false;
  if (unit.remember) cache_.Insert(unit.job);
  unit.subject_done = true;
  unit.reviewed = false;
  unit.whole = std::move(unit.job);
  const size_t sentence_tokens = unit.tokens;
  starter_.Begin(participant, unit, std::move(tokens));
  unit.job.align = unit.whole->align;
  unit.in_pieces = false;
  unit.tokens = sentence_tokens;
  return true;
}

void UnitReview::TakeSubject(std::string_view target_language, TranslationUnit& unit) const {
  if (unit.remember) cache_.Insert(unit.job);
  unit.remember = false;
  AlignedTokens subject = {std::move(unit.job.target), std::move(unit.job.alignment)};
  const auto is_stop = [&](int32_t token) {
    return vocabularies_.target->Decode(std::span(&token, 1)) == ".";
  };
  if (!subject.tokens.empty() && is_stop(subject.tokens.back())) {
    subject.tokens.pop_back();
    if (!subject.alignment.empty()) subject.alignment.pop_back();
  }
  unit.job = *std::move(unit.whole);
  unit.whole.reset();
  const size_t bytes = SubjectBytes(vocabularies_.target->Decode(unit.job.target), target_language);
  const std::vector<size_t> ends = vocabularies_.target->EndsOf(unit.job.target);
  const auto end = std::ranges::find(ends, bytes);
  if (end == ends.end()) return;
  const auto subject_tokens = static_cast<size_t>(end - ends.begin()) + 1;
  if (auto completed =
          WithSubject({unit.job.target, unit.job.alignment}, subject_tokens, subject)) {
    unit.job.target = std::move(completed->tokens);
    unit.job.alignment = std::move(completed->alignment);
  }
}

void UnitReview::TakeCarried(const TranslationPlan& plan, TranslationUnit& unit) const {
  const TranslationSettings& settings = plan.settings();
  const std::string& word = unit.sentence.marked.text;
  const std::string translation = TextOf(unit, unit.job.target, vocabularies_);
  std::string carried;
  if (unit.is_small_word) {
    // A word that the model writes in one piece is one that it knows.
    const std::string small =
        SmallWord(translation, settings.target_language).value_or(translation);
    const bool is_known = vocabularies_.target->Encode(small, 2).tokens.size() == 1 &&
                          small != SmallWord(word, settings.source_language);
    carried = is_known ? translation : *unit.bare;
  } else {
    carried = CarriedWord(word, translation, settings.target_language);
    if (carried.empty()) {
      carried = WithoutArticle(*unit.bare, settings.target_language);
    } else {
      unit.missing.clear();
    }
  }
  unit.translated.text = ShapedLike(ShapeOf(settings, unit), std::move(carried));
  unit.reviewed = true;
}

bool UnitReview::Divide(const Participant& participant, size_t index,
                        const GuardVerdict& verdict) const {
  constexpr size_t kMostLevels = 3;
  constexpr size_t kFewestTokens = 8;  // the least that a sentence needs to be divided
  TranslationPlan& plan = *participant.plan;
  std::deque<TranslationUnit>& units = plan.units();
  TranslationUnit& whole = units[index];
  const bool is_named =
      verdict.only_number || verdict.lost_colon > 0 || !verdict.lost_parts.empty();
  if (whole.level >= kMostLevels || (whole.tokens < kFewestTokens && !is_named)) return false;
  const std::string_view text = whole.sentence.marked.text;
  const size_t least = text.size() / 5;
  const size_t most = text.size() - least;
  size_t cut = verdict.lost_colon;
  if (cut == 0) cut = FindClauseCut(text, least, most, plan.settings().source_language);
  if (cut == 0) cut = FindWordCut(text, least, most);
  if (cut == 0) return false;
  TranslationUnit second;
  second.sentence = whole.sentence;
  TranslationUnit first;
  first.sentence = TakeFront(second.sentence, cut);
  if (second.sentence.marked.text.empty()) return false;
  if (whole.remember) cache_.Insert(whole.job);
  if (whole.is_part && !whole.repeats) plan.parts().Insert(whole.job);
  second.is_part = whole.is_part;
  second.text_finished = whole.text_finished;
  first.is_part = true;
  for (TranslationUnit* part : {&first, &second}) {
    part->text = whole.text;
    part->level = whole.level + 1;
    part->in_capitals = whole.in_capitals;
  }
  whole = std::move(second);
  units.insert(units.begin() + static_cast<std::ptrdiff_t>(index), std::move(first));
  for (TranslationUnit* part : {&units[index], &units[index + 1]}) {
    starter_.Begin(
        participant, *part,
        vocabularies_.source->Encode(part->sentence.marked.text, max_source_tokens_).tokens);
  }
  return true;
}

}  // namespace millrace::translation
