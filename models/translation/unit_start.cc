#include "models/translation/unit_start.h"

#include <algorithm>
#include <utility>

#include "models/text/unicode.h"
#include "models/translation/clause_cut.h"
#include "models/translation/joined_words.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/readings.h"
#include "models/translation/source_shape.h"
#include "models/translation/translation_guard.h"

namespace millrace::translation {
namespace {

// Returns true if the vocabulary has a part of a text as small letters, from which the model learnt
// to guess capitals.
bool IsKnownInLowerCase(const Vocabulary& vocabulary, std::string_view part) {
  for (const char32_t c : models::DecodeUtf8(part)) {
    if (vocabulary.FitOf(models::ToLower(c)) != CharacterFit::kKnown) return false;
  }
  return true;
}

}  // namespace

size_t UnitStarter::TakeNext(const Participant& participant) const {
  TranslationPlan& plan = *participant.plan;
  const TranslationSettings& settings = plan.settings();
  TranslationUnit& unit = plan.units().emplace_back();
  unit.text = plan.next_text();
  const SourceSentence& next = plan.Next();
  const size_t framing = settings.frame.before.size() + settings.frame.after.size();
  const size_t most = max_source_tokens_ - framing;
  auto [tokens, bytes] = vocabularies_.source->Encode(next.marked.text, most);
  if (bytes < next.marked.text.size()) {
    unit.is_part = true;
    unit.sentence = plan.TakeFront(PartEnd(plan, next.marked.text, bytes));
    if (unit.sentence.marked.text.size() != bytes)
      tokens = vocabularies_.source->Encode(unit.sentence.marked.text, most).tokens;
  } else {
    unit.sentence = plan.Take();
  }
  if (DivideJoinedWords(*vocabularies_.source, unit.sentence.marked))
    tokens = vocabularies_.source->Encode(unit.sentence.marked.text, most).tokens;
  unit.text_finished = plan.all_taken() || plan.next_text() != unit.text;
  const size_t taken = tokens.size() + framing;
  Begin(participant, unit, std::move(tokens));
  // A sentence that needs no job was encoded all the same, so it counts as others do.
  return taken;
}

size_t UnitStarter::PartEnd(const TranslationPlan& plan, std::string_view text,
                            size_t bytes) const {
  // A sentence that two passes can take is divided near its middle, so that neither part is a
  // scrap.
  const bool two_parts =
      vocabularies_.source->Encode(text, 2 * max_source_tokens_).bytes == text.size();
  const size_t least = two_parts ? text.size() / 4 : bytes / 2;
  const size_t most = two_parts ? std::min(bytes, text.size() - text.size() / 4) : bytes;
  const size_t cut = FindClauseCut(text, least, most, plan.settings().source_language);
  return cut != 0 ? cut : bytes;
}

void UnitStarter::Begin(const Participant& participant, TranslationUnit& unit,
                        std::vector<int32_t> tokens) const {
  TranslationPlan& plan = *participant.plan;
  const TranslationSettings& settings = plan.settings();
  unit.tokens = tokens.size();
  // A prescribed beginning must come out as it is written, so its sentence keeps its capitals.
  if (participant.input().target_prefixes.empty() && !unit.in_capitals) ReadCapitals(unit, tokens);
  unit.copied = !unit.sentence.has_words || !vocabularies_.source->AnyKnown(tokens);
  if (unit.copied) return;
  const Vocabulary& vocabulary = *vocabularies_.source;
  if (std::ranges::any_of(tokens, [&](int32_t token) { return vocabulary.IsUnknown(token); })) {
    for (const std::string_view part : vocabulary.UnknownParts(unit.sentence.marked.text)) {
      if (!IsKnownInLowerCase(vocabulary, part))
        unit.unread.push_back(Escaped(part, unit.sentence.marked.is_html));
    }
  }
  const std::string& text = unit.sentence.marked.text;
  unit.in_pieces =
      participant.input().partial && unit.level == 0 && unit.sentence.is_plain && !IsShort(text) &&
      !IsEasilyLost(text, unit.tokens, settings.source_language) &&
      InterfacePhrase(unit.sentence.marked, settings.source_language, settings.target_language)
          .empty();
  unit.job = MakeSentenceJob(tokens, settings.frame, settings.max_length_factor);
  unit.job.search = settings.search;
  const MarkedText& marked = unit.sentence.marked;
  unit.job.align =
      !marked.events.empty() || !marked.kept.empty() || unit.tokens >= kAlignedSentence;
  unit.job.min_target = settings.min_target;
  unit.job.max_target = settings.max_target != 0
                            ? settings.max_target
                            : std::max(unit.job.max_target, settings.min_target);
  const std::vector<std::string>& beginnings = participant.input().target_prefixes;
  if (plan.BeginsText(unit.text) && !beginnings.empty()) Force(beginnings[unit.text], unit);
  if (!participant.input().use_cache) return;
  unit.remember = !cache_.Find(unit.job);
  if (unit.is_part && !unit.done()) ShareWork(plan, unit);
}

void UnitStarter::ShareWork(TranslationPlan& plan, TranslationUnit& unit) {
  if (plan.parts().Find(unit.job)) return;
  unit.repeats = std::ranges::any_of(plan.units(), [&unit](const TranslationUnit& before) {
    return &before != &unit && before.is_part && !before.done() &&
           before.job.source == unit.job.source && before.job.prefix == unit.job.prefix &&
           before.job.align == unit.job.align;
  });
}

void UnitStarter::ReadCapitals(TranslationUnit& unit, std::vector<int32_t>& tokens) const {
  MarkedText& marked = unit.sentence.marked;
  if (!IsInCapitals(marked)) return;
  // A model copies a word that its vocabulary has in many short pieces only. NASA is one token in
  // capitals and several in small letters; for most words it is the other way round.
  std::string small = InSmallLetters(marked);
  Vocabulary::Prefix read = vocabularies_.source->Encode(small, tokens.size());
  if (read.bytes < small.size() || read.tokens.size() >= tokens.size() ||
      !vocabularies_.source->AnyKnown(read.tokens)) {
    return;
  }
  marked.text = std::move(small);
  tokens = std::move(read.tokens);
  unit.tokens = tokens.size();
  unit.in_capitals = true;
}

void UnitStarter::Force(const std::string& beginning, TranslationUnit& unit) const {
  if (beginning.empty()) return;
  unit.begun = vocabularies_.target->Encode(beginning, unit.job.max_target).tokens;
  unit.job.prefix.insert(unit.job.prefix.end(), unit.begun.begin(), unit.begun.end());
  unit.job.max_target -= unit.begun.size();
  unit.job.min_target -= std::min(unit.job.min_target, unit.begun.size());
}

}  // namespace millrace::translation
