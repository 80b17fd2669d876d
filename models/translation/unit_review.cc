#include "models/translation/unit_review.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"
#include "models/translation/carrier_sentence.h"
#include "models/translation/clause_cut.h"
#include "models/translation/copied_names.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/number_format.h"
#include "models/translation/markup/readings.h"
#include "models/translation/markup/restore.h"
#include "models/translation/markup/stand_ins.h"
#include "models/translation/markup/word_lists.h"
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

// Returns the text of a unit without its end marks.
std::string_view WordOf(const TranslationUnit& unit) {
  return WithoutEndMarks(unit.sentence.marked.text);
}

// Returns true if a few words with a stop and without a verb, such as "The house.", became a
// sentence.
bool AddsVerb(std::string_view source, std::string_view target,
              const TranslationSettings& settings) {
  constexpr size_t kMostWords = 4;
  return source.ends_with('.') && models::CountWords(source) <= kMostWords &&
         HasSubjectVerb(target, settings.target_language) &&
         !HasSubjectVerb(source, settings.source_language);
}

// Returns true if the infinitive that begins a few words became a noun: "Installing".
bool BecomesGerund(std::string_view source, std::string_view target,
                   const TranslationSettings& settings) {
  constexpr size_t kMostWords = 6;
  return PrimarySubtag(settings.target_language) == "en" &&
         target.substr(0, target.find(' ')).ends_with("ing") &&
         models::CountWords(source) <= kMostWords;
}

// Returns true for several words of which the first alone may begin with a capital, as those of a
// name do not.
bool IsPhrase(std::string_view text) {
  size_t words = 0;
  for (size_t space = text.find(' '); space != std::string_view::npos;
       space = text.find(' ', space + 1)) {
    if (!models::IsLower(models::DecodeAt(text, space + 1).value)) return false;
    ++words;
  }
  return words > 0;
}

// Returns a text with a small first letter, as it stands within a sentence.
std::string WithSmallFirst(std::string_view text) {
  const models::CodePoint first = models::DecodeAt(text, 0);
  return models::EncodeUtf8(models::ToLower(first.value)) + std::string(text.substr(first.bytes));
}

// The same without its stop.
std::string WithoutStop(std::string_view text) {
  return WithSmallFirst(text.substr(0, text.size() - 1));
}

}  // namespace

bool UnitReview::Review(const Participant& participant, size_t index) const {
  const TranslationPlan& plan = *participant.plan;
  TranslationUnit& unit = participant.plan->units()[index];
  if (unit.bare) return TakeCarried(participant, unit);
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
       .target_language = settings.target_language,
       .source_tokens = std::span(job.source).subspan(settings.frame.before.size(), unit.tokens),
       .target_tokens = job.target,
       .alignment = job.alignment,
       .frame_before = settings.frame.before.size(),
       .is_half = unit.level > 0,
       .reached_limit = !limited_by_request && job.target.size() >= job.max_target,
       .formats = plan.formats()});
  // A translation that may be sent in pieces stays even if none was sent yet: that depends on the
  // other requests and on the cache. One as long as the request wants it stays, too.
  const bool final =
      unit.in_pieces || !unit.begun.empty() || limited_by_request || settings.min_target != 0;
  if (!final && !unit.is_part && KeepNames(participant, source, target, unit)) return true;
  if (!final && !unit.is_part && TakeKnown(settings, unit)) return false;
  // A speaker, in capitals before a colon, becomes no sentence: "JOHN:".
  constexpr size_t kWordsOfSentence = 3;
  if (!final && unit.in_capitals && source.ends_with(':') && models::CountWords(source) == 1 &&
      models::CountWords(target) >= kWordsOfSentence) {
    unit.translated.text = InCapitals(marked.text);
    return false;
  }
  if (!final && unit.sentence.is_bare && unit.level == 0 && !unit.is_part) {
    const std::string_view word = WordOf(unit);
    const bool is_untouched_verb = source == target && IsVerbForm(word, settings.source_language);
    if (!is_untouched_verb &&
        (verdict.lost_content || IsUncertainWord(source, target, settings.target_language)) &&
        Carry(participant, Reading::kCarrier, CarrierSentence(word, settings.source_language),
              verdict.lost_content, unit))
      return true;
    if ((is_untouched_verb || IsTakenForName(word, target)) &&
        Carry(participant, Reading::kSmallWord, SmallWord(word, settings.source_language),
              /*lost_content=*/false, unit))
      return true;
    if (IsShort(source) && verdict.lost_colon == 0 &&
        (models::CountWords(target) > models::CountWords(source) ||
         (source == target && IsPhrase(source))) &&
        Carry(participant, Reading::kSmallText, SmallText(marked.text, settings.source_language),
              /*lost_content=*/false, unit))
      return true;
    if (IsShort(source) && !verdict.suspicious &&
        LooksMisread(source, target, settings.target_language) &&
        Carry(participant, Reading::kSmallText, WithSmallFirst(marked.text),
              /*lost_content=*/false, unit))
      return true;
    if (BecomesGerund(source, target, settings) &&
        Carry(participant, Reading::kCommand, CommandSentence(word, settings.source_language),
              /*lost_content=*/false, unit))
      return true;
    if (AddsVerb(source, target, settings) &&
        Carry(participant, Reading::kWithoutStop, WithoutStop(source),
              /*lost_content=*/false, unit))
      return true;
  }
  // Nothing was sent of a sentence that lacks a word of its subject.
  if ((!final || (unit.in_pieces && unit.emitted == 0)) && !verdict.suspicious &&
      unit.begun.empty() && !limited_by_request && settings.min_target == 0 &&
      TranslateSubject(participant, source, target, unit))
    return true;
  if (!verdict.suspicious || limited_by_request) return false;
  if (!final && Divide(participant, index, verdict)) return true;
  for (const std::string_view part : verdict.lost_parts) unit.missing.emplace_back(part);
  if (verdict.lost_content) unit.missing.push_back(Untouched(CopyOf(unit.sentence)));
  // The source says more than nothing, or than a word over and over.
  const bool is_blank = target.find_first_not_of(' ') == std::string::npos;
  if ((is_blank || verdict.loops) && unit.emitted == 0 && unit.begun.empty())
    unit.translated = CopyOf(unit.sentence);
  return false;
}

bool UnitReview::TakeKnown(const TranslationSettings& settings, TranslationUnit& unit) const {
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  if (!is_greedy) return false;
  MarkedText source = unit.sentence.marked;
  if (unit.in_capitals) source.text = InCapitals(source.text);
  std::string known = InterfacePhrase(source, settings.source_language, settings.target_language);
  if (known.empty()) return false;
  if (unit.in_capitals) known = InCapitals(known);
  unit.translated =
      RestoreMarks(unit.sentence.marked, ShapedLike(ShapeOf(settings, unit), std::move(known)), {},
                   NumberFormatsOf(settings.source_language, settings.target_language));
  return true;
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

bool UnitReview::KeepNames(const Participant& participant, std::string_view source,
                           std::string_view target, TranslationUnit& unit) const {
  MarkedText& marked = unit.sentence.marked;
  if (unit.names_kept || unit.in_capitals || !marked.events.empty() || !marked.kept.empty() ||
      !marked.spellings.empty())
    return false;
  const std::vector<std::string_view> lost = LostNames(source, target);
  if (lost.empty() || lost.front().size() == source.size()) return false;
  for (const std::string_view name : lost) {
    const auto begin = static_cast<size_t>(name.data() - source.data());
    marked.kept.push_back({begin, begin + name.size(), Escaped(name, marked.is_html)});
  }
  if (unit.remember) cache_.Insert(unit.job);
  PutStandIns(marked);
  unit.sentence.is_plain = unit.sentence.is_bare = false;
  unit.names_kept = true;
  unit.reviewed = false;
  starter_.Begin(participant, unit,
                 vocabularies_.source->Encode(marked.text, max_source_tokens_).tokens);
  return true;
}

bool UnitReview::Carry(const Participant& participant, Reading reading,
                       const std::optional<std::string>& read, bool lost_content,
                       TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  if (!read || !is_greedy || unit.in_capitals || !unit.unread.empty()) return false;
  if (unit.remember) cache_.Insert(unit.job);
  if (lost_content) unit.missing.push_back(Untouched(CopyOf(unit.sentence)));
  if (!unit.bare) unit.bare = unit.translated.text;
  unit.reading = reading;
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

bool UnitReview::TakeCarried(const Participant& participant, TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const std::string word(WordOf(unit));
  const std::string translation = TextOf(unit, unit.job.target, vocabularies_);
  const auto try_command = [&] {
    return Carry(participant, Reading::kCommand, CommandSentence(word, settings.source_language),
                 /*lost_content=*/false, unit);
  };
  std::string carried;
  if (unit.reading == Reading::kSmallText) {
    const std::string_view text = unit.sentence.marked.text;
    carried = ShapedLike(ShapeOf(settings, unit), translation);
    const bool is_better = LooksMisread(text, *unit.bare, settings.target_language) &&
                           !LooksMisread(text, carried, settings.target_language);
    if (*unit.bare != text && !is_better) carried = WithoutAdditions(*unit.bare, carried);
    if (AddsVerb(text, carried, settings) &&
        Carry(participant, Reading::kWithoutStop, WithoutStop(text), /*lost_content=*/false, unit))
      return true;
  } else if (unit.reading == Reading::kWithoutStop) {
    carried = HasSubjectVerb(translation, settings.target_language) ? *unit.bare : translation;
  } else if (unit.reading == Reading::kCommand) {
    carried = CommandVerb(word, translation, settings.target_language);
    if (carried.empty()) carried = WithoutArticle(*unit.bare, settings.target_language);
  } else if (unit.reading == Reading::kSmallWord) {
    // A word that the model writes in one piece is one that it knows. A form of a verb that stayed
    // as it was may be two, of its root and its ending.
    const size_t most = *unit.bare == unit.sentence.marked.text ? 2 : 1;
    const std::string small =
        SmallWord(translation, settings.target_language).value_or(translation);
    const bool is_known = small.find(' ') == std::string::npos &&
                          vocabularies_.target->Encode(small, most + 1).tokens.size() <= most &&
                          small != SmallWord(word, settings.source_language);
    if (!is_known && try_command()) return true;
    carried = is_known ? translation : *unit.bare;
  } else {
    carried = CarriedWord(word, translation, settings.target_language);
    if (carried.empty()) {
      if (try_command()) return true;
      carried = WithoutArticle(*unit.bare, settings.target_language);
    } else {
      unit.missing.clear();
    }
  }
  unit.translated.text = ShapedLike(ShapeOf(settings, unit), std::move(carried));
  unit.reviewed = true;
  return false;
}

bool UnitReview::Divide(const Participant& participant, size_t index,
                        const GuardVerdict& verdict) const {
  constexpr size_t kMostLevels = 3;
  constexpr size_t kFewestTokens = 8;  // the least that a sentence needs to be divided
  TranslationPlan& plan = *participant.plan;
  std::deque<TranslationUnit>& units = plan.units();
  TranslationUnit& whole = units[index];
  const bool is_named = verdict.only_number || verdict.lost_item || verdict.lost_colon > 0 ||
                        !verdict.lost_parts.empty();
  if (whole.level >= kMostLevels || (whole.tokens < kFewestTokens && !is_named)) return false;
  const std::string_view text = whole.sentence.marked.text;
  const size_t least = text.size() / 5;
  const size_t most = text.size() - least;
  size_t cut = verdict.lost_colon;
  if (cut == 0) cut = FindClauseCut(text, least, most, plan.settings().source_language);
  if (cut == 0) cut = FindWordCut(text, least, most);
  // A number alone is lost with its only word: "5 stars".
  if (cut == 0 && verdict.only_number) cut = FindWordCut(text, 0, text.size());
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
