#include "models/translation/translation_batch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"
#include "models/translation/carrier_sentence.h"
#include "models/translation/clause_cut.h"
#include "models/translation/markup/capitals.h"
#include "models/translation/markup/numeric_text.h"
#include "models/translation/markup/restore.h"
#include "models/translation/source_shape.h"
#include "models/translation/subject_repair.h"
#include "models/translation/translation_guard.h"

namespace millrace::translation {
namespace {

constexpr char32_t kReplacementCharacter = 0xFFFD;

const models::TranslateInput& InputOf(const models::Request& request) {
  return std::get<models::TranslateInput>(request.input());
}

// Returns true if the vocabulary has a part of a text as small letters, from which the model learnt
// to guess capitals.
bool IsKnownInLowerCase(const Vocabulary& vocabulary, std::string_view part) {
  for (size_t at = 0; at < part.size();) {
    const models::CodePoint c = models::DecodeAt(part, at);
    if (vocabulary.FitOf(models::ToLower(c.value)) != CharacterFit::kKnown) return false;
    at += c.bytes;
  }
  return true;
}

size_t CountIn(std::string_view text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

// Returns the number of rows that a sentence of the request takes in a decoder step.
size_t RowsOf(const TranslationPlan& plan) {
  return static_cast<size_t>(plan.settings().search.beam_size);
}

// Returns the text with nothing that the guard would compare in its kept spans.
std::string WithoutKept(const MarkedText& marked) {
  std::string text = marked.text;
  for (const KeptSpan& kept : marked.kept)
    std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(kept.begin), kept.end - kept.begin, '_');
  return text;
}

// Returns what follows the translation of a sentence. Chinese and Japanese have no space between
// sentences, where other languages have one.
std::string BehindOf(const TranslationUnit& unit, std::string_view translation) {
  const std::string& behind = unit.sentence.behind;
  const bool was_unspaced = models::EndsUnspaced(unit.sentence.marked.text);
  if (unit.copied || was_unspaced == models::EndsUnspaced(translation)) return behind;
  if (!was_unspaced) {
    return behind.find_first_not_of(' ') == std::string::npos ? std::string() : behind;
  }
  return behind.empty() && !unit.text_finished && !translation.empty() ? " " : behind;
}

SourceShape ShapeOf(const TranslationSettings& settings, const TranslationUnit& unit) {
  const MarkedText& marked = unit.sentence.marked;
  const bool begins_kept = !marked.kept.empty() && marked.kept.front().begin == 0;
  return {.text = marked.text,
          .target_language = settings.target_language,
          .any_first_letter = begins_kept || unit.in_capitals || !unit.begun.empty(),
          .has_marks = !unit.sentence.is_plain};
}

}  // namespace

TranslationBatch::TranslationBatch(
    std::span<models::Request* const> requests, const StepLimits& limits,
    absl::FunctionRef<TranslationSettings(const models::TranslateInput&)> settings_of,
    const Vocabularies& vocabularies, const TranslationEngine& engine,
    const TranslationCache::ForModel& cache)
    : limits_(limits), vocabularies_(vocabularies), engine_(engine), cache_(cache) {
  for (models::Request* request : requests) {
    if (request->state() == nullptr) {
      const models::TranslateInput& input = InputOf(*request);
      const Vocabulary& source = *vocabularies_.source;
      request->set_state(std::make_unique<TranslationPlan>(
          input, settings_of(input), [&source](char32_t c) { return source.FitOf(c); }));
      request->EstimateWorkLeft(static_cast<TranslationPlan*>(request->state())->WorkLeft());
    }
    auto* plan = static_cast<TranslationPlan*>(request->state());
    participants_.push_back({request, plan});
    rows_ += plan->units().size() * RowsOf(*plan);
  }
  TakeSentences();
}

TranslationBatch::~TranslationBatch() {
  if (!begun_) return;
  for (const Participant& participant : participants_) participant.plan->Suspend();
}

void TranslationBatch::TakeSentences() {
  for (const Participant& participant : participants_) {
    if (participant.plan->units().empty()) TakeNext(participant);
  }
  // The remaining rows go to the participants with the fewest sentences first.
  for (size_t share = 2; rows_ < limits_.max_rows; ++share) {
    bool more = false;
    for (const Participant& participant : participants_) {
      TranslationPlan& plan = *participant.plan;
      if (plan.all_taken() || WaitsForFirst(participant)) continue;
      if (rows_ >= limits_.max_rows || tokens_ >= limits_.max_step_tokens) return;
      if (plan.units().size() < share) TakeNext(participant);
      more = true;
    }
    if (!more) return;
  }
}

bool TranslationBatch::WaitsForFirst(const Participant& participant) {
  TranslationPlan& plan = *participant.plan;
  return InputOf(*participant.request).first_soon && !plan.has_translated() &&
         std::ranges::any_of(plan.units(), [](const auto& unit) { return !unit.copied; });
}

void TranslationBatch::TakeNext(const Participant& participant) {
  TranslationPlan& plan = *participant.plan;
  const TranslationSettings& settings = plan.settings();
  TranslationUnit& unit = plan.units().emplace_back();
  unit.text = plan.next_text();
  const SourceSentence& next = plan.Next();
  const size_t framing = settings.frame.before.size() + settings.frame.after.size();
  const size_t most = limits_.max_source_tokens - framing;
  auto [tokens, bytes] = vocabularies_.source->Encode(next.marked.text, most);
  if (bytes < next.marked.text.size()) {
    unit.is_part = true;
    unit.sentence = plan.TakeFront(PartEnd(plan, next.marked.text, bytes));
    if (unit.sentence.marked.text.size() != bytes)
      tokens = vocabularies_.source->Encode(unit.sentence.marked.text, most).tokens;
  } else {
    unit.sentence = plan.Take();
  }
  unit.text_finished = plan.all_taken() || plan.next_text() != unit.text;
  // A sentence that needs no job was encoded all the same, so it counts as others do.
  rows_ += RowsOf(plan);
  tokens_ += tokens.size() + framing;
  BeginUnit(participant, unit, std::move(tokens));
}

size_t TranslationBatch::PartEnd(const TranslationPlan& plan, std::string_view text,
                                 size_t bytes) const {
  // A sentence that two passes can take is divided near its middle, so that neither part is a
  // scrap.
  const bool two_parts =
      vocabularies_.source->Encode(text, 2 * limits_.max_source_tokens).bytes == text.size();
  const size_t least = two_parts ? text.size() / 4 : bytes / 2;
  const size_t most = two_parts ? std::min(bytes, text.size() - text.size() / 4) : bytes;
  const size_t cut = FindClauseCut(text, least, most, plan.settings().source_language);
  return cut != 0 ? cut : bytes;
}

void TranslationBatch::BeginUnit(const Participant& participant, TranslationUnit& unit,
                                 std::vector<int32_t> tokens) const {
  TranslationPlan& plan = *participant.plan;
  const TranslationSettings& settings = plan.settings();
  unit.tokens = tokens.size();
  // A prescribed beginning must come out as it is written, so its sentence keeps its capitals.
  if (InputOf(*participant.request).target_prefixes.empty() && !unit.in_capitals)
    ReadCapitals(unit, tokens);
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
  unit.in_pieces = InputOf(*participant.request).partial && unit.level == 0 &&
                   unit.sentence.is_plain && !IsShort(text) && !IsEasilyLost(text, unit.tokens);
  unit.job = MakeSentenceJob(tokens, settings.frame, settings.max_length_factor);
  unit.job.search = settings.search;
  const MarkedText& marked = unit.sentence.marked;
  unit.job.align =
      !marked.events.empty() || !marked.kept.empty() || unit.tokens >= kAlignedSentence;
  unit.job.min_target = settings.min_target;
  unit.job.max_target = settings.max_target != 0
                            ? settings.max_target
                            : std::max(unit.job.max_target, settings.min_target);
  const std::vector<std::string>& beginnings = InputOf(*participant.request).target_prefixes;
  if (plan.BeginsText(unit.text) && !beginnings.empty()) Force(beginnings[unit.text], unit);
  if (!InputOf(*participant.request).use_cache) return;
  unit.remember = !cache_.Find(unit.job);
  if (unit.is_part && !unit.done()) ShareWork(plan, unit);
}

void TranslationBatch::ShareWork(TranslationPlan& plan, TranslationUnit& unit) {
  if (plan.parts().Find(unit.job)) return;
  unit.repeats = std::ranges::any_of(plan.units(), [&unit](const TranslationUnit& before) {
    return &before != &unit && before.is_part && !before.done() &&
           before.job.source == unit.job.source && before.job.prefix == unit.job.prefix &&
           before.job.align == unit.job.align;
  });
}

void TranslationBatch::ReadCapitals(TranslationUnit& unit, std::vector<int32_t>& tokens) const {
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

void TranslationBatch::Force(const std::string& beginning, TranslationUnit& unit) const {
  if (beginning.empty()) return;
  unit.begun = vocabularies_.target->Encode(beginning, unit.job.max_target).tokens;
  unit.job.prefix.insert(unit.job.prefix.end(), unit.begun.begin(), unit.begun.end());
  unit.job.max_target -= unit.begun.size();
  unit.job.min_target -= std::min(unit.job.min_target, unit.begun.size());
}

std::vector<TranslationBatch::Job> TranslationBatch::JobsAtWork() const {
  std::vector<Job> jobs;
  for (const Participant& participant : participants_) {
    for (TranslationUnit& unit : participant.plan->units()) {
      if (!unit.done() && !unit.repeats) jobs.push_back({&unit.job, participant.request});
    }
  }
  return jobs;
}

void TranslationBatch::Forward(runtime::WorkerContext& context) {
  begun_ = true;
  std::vector<Job> jobs = JobsAtWork();
  if (jobs.empty()) return;
  const models::Request& clock = *participants_.front().request;
  const TimePoint end =
      clock.now() + std::max<Duration>(limits_.time, jobs.size() * limits_.time_each);
  std::vector<SentenceJob*> advanced;
  // Each call decodes more tokens: a step ends in time where tokens are slow, and calls cost little
  // where they are fast.
  constexpr size_t kMostTokens = 1024;
  constexpr size_t kCallsForFirstToken = 4;
  size_t tokens = 1;
  size_t calls = 0;
  do {
    ++calls;
    advanced.clear();
    for (const Job& job : jobs) advanced.push_back(job.job);
    engine_.Advance(
        advanced, tokens, [&jobs](size_t job) { return jobs[job].request->ShouldStop(); }, context);
    std::erase_if(jobs, [](const Job& job) { return !job.job->at_work(); });
    // The jobs that are left wait for memory that sentences of other steps hold.
    if (std::ranges::none_of(jobs, [](const Job& job) { return job.job->state != nullptr; }))
      return;
    // Two tokens are needed, because the last one may still change.
    if (SomebodyWaitsForFirstToken(/*decided=*/2)) return;
    // Calls stay short while a client waits, but not for ever: a search may take long to decide any
    // token.
    if (calls > kCallsForFirstToken || !SomebodyWaitsForFirstToken(/*decided=*/0))
      tokens = std::min(2 * tokens, kMostTokens);
  } while (!jobs.empty() && clock.now() < end);
}

bool TranslationBatch::SomebodyWaitsForFirstToken(size_t decided) const {
  return std::ranges::any_of(participants_, [decided](const Participant& participant) {
    const TranslationUnit& first = participant.plan->units().front();
    return first.in_pieces && first.emitted == 0 && !first.done() && first.job.state != nullptr &&
           first.job.target.size() >= decided;
  });
}

std::string TranslationBatch::TextOf(const TranslationUnit& unit,
                                     std::span<const int32_t> tokens) const {
  if (unit.in_capitals) return InCapitals(vocabularies_.target->Decode(tokens));
  if (unit.begun.empty()) return vocabularies_.target->Decode(tokens);
  std::vector<int32_t> all = unit.begun;
  all.insert(all.end(), tokens.begin(), tokens.end());
  return vocabularies_.target->Decode(all);
}

std::string TranslationBatch::StableText(const TranslationSettings& settings,
                                         const TranslationUnit& unit) const {
  const std::vector<int32_t>& target = unit.job.target;
  if (target.size() < 2) return {};
  std::string text = TextOf(unit, target);
  const std::string before = TextOf(unit, std::span(target).first(target.size() - 1));
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

void TranslationBatch::EmitPart(const Participant& participant, TranslationUnit& unit) const {
  if (!unit.in_pieces) return;
  const TranslationSettings& settings = participant.plan->settings();
  std::string text = StableText(settings, unit);
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

MarkedText TranslationBatch::Restored(const TranslationPlan& plan, const TranslationUnit& unit,
                                      std::span<const int32_t> tokens,
                                      std::span<const int32_t> alignment) const {
  const TranslationSettings& settings = plan.settings();
  // A translation that the request cuts need not end as its source does.
  const bool is_cut = settings.max_target != 0;
  const SourceShape shape = ShapeOf(settings, unit);
  const std::string text =
      is_cut ? BegunLike(shape, TextOf(unit, tokens)) : ShapedLike(shape, TextOf(unit, tokens));
  if (unit.sentence.is_plain) return {.text = text};
  const MarkedText& marked = unit.sentence.marked;
  std::vector<AlignedPiece> pieces;
  if (!alignment.empty()) {
    std::vector<int32_t> all = unit.begun;
    all.insert(all.end(), tokens.begin(), tokens.end());
    const std::vector<size_t> sources = vocabularies_.source->PlacesOf(marked.text);
    const std::vector<size_t> ends = vocabularies_.target->EndsOf(all);
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

bool TranslationBatch::Review(const Participant& participant, size_t index) const {
  const TranslationPlan& plan = *participant.plan;
  TranslationUnit& unit = participant.plan->units()[index];
  if (unit.bare) {
    TakeCarried(plan, unit);
    return false;
  }
  if (unit.whole) TakeSubject(plan.settings().target_language, unit);
  const SentenceJob& job = unit.job;
  unit.translated = Restored(plan, unit, job.target, job.alignment);
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
  if (!final && unit.sentence.is_plain && unit.level == 0 && !unit.is_part &&
      (verdict.lost_content || IsUncertainWord(source, target, settings.target_language)) &&
      Carry(participant, verdict.lost_content, unit))
    return true;
  // Nothing was sent of a sentence that lacks a word of its subject.
  if ((!final || (unit.in_pieces && unit.emitted == 0)) && !verdict.suspicious &&
      unit.begun.empty() && !limited_by_request && settings.min_target == 0 &&
      TranslateSubject(participant, source, target, unit))
    return true;
  if (!verdict.suspicious || limited_by_request) return false;
  if (!final && Divide(participant, index, verdict.only_number)) return true;
  for (const std::string_view number : verdict.lost_numbers) unit.missing.emplace_back(number);
  if (verdict.lost_content) unit.missing.push_back(Untouched(marked));
  const bool is_blank = target.find_first_not_of(' ') == std::string::npos;
  if (is_blank && unit.emitted == 0 && unit.begun.empty()) unit.translated = marked;
  return false;
}

bool TranslationBatch::Carry(const Participant& participant, bool lost_content,
                             TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  if (!is_greedy || unit.in_capitals || !unit.unread.empty()) return false;
  const auto carrier = CarrierSentence(unit.sentence.marked.text, settings.source_language);
  if (!carrier) return false;
  if (unit.remember) cache_.Insert(unit.job);
  if (lost_content) unit.missing.push_back(Untouched(unit.sentence.marked));
  unit.bare = unit.translated.text;
  unit.reviewed = false;
  const size_t tokens = unit.tokens;
  BeginUnit(participant, unit,
            vocabularies_.source->Encode(*carrier, limits_.max_source_tokens).tokens);
  unit.tokens = tokens;
  return true;
}

bool TranslationBatch::TranslateSubject(const Participant& participant, std::string_view source,
                                        std::string_view target, TranslationUnit& unit) const {
  const TranslationSettings& settings = participant.plan->settings();
  const bool is_greedy = settings.search.hypotheses == 1 && !settings.search.sample;
  const bool is_sentence = unit.level == 0 && !unit.is_part && !unit.in_capitals;
  if (unit.subject_done || !is_greedy || !is_sentence || !unit.unread.empty() ||
      !LacksSubjectWord(source, settings.source_language, target, settings.target_language))
    return false;
  const std::string& text = unit.sentence.marked.text;
  const std::string subject = text.substr(0, SubjectBytes(source, settings.source_language));
  std::vector<int32_t> tokens =
      vocabularies_.source->Encode(subject, limits_.max_source_tokens).tokens;
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
  BeginUnit(participant, unit, std::move(tokens));
  unit.job.align = unit.whole->align;
  unit.in_pieces = false;
  unit.tokens = sentence_tokens;
  return true;
}

void TranslationBatch::TakeSubject(std::string_view target_language, TranslationUnit& unit) const {
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

void TranslationBatch::TakeCarried(const TranslationPlan& plan, TranslationUnit& unit) const {
  const TranslationSettings& settings = plan.settings();
  std::string carried = CarriedWord(unit.sentence.marked.text, TextOf(unit, unit.job.target),
                                    settings.target_language);
  if (carried.empty()) {
    carried = WithoutArticle(*unit.bare, settings.target_language);
  } else {
    unit.missing.clear();
  }
  unit.translated.text = ShapedLike(ShapeOf(settings, unit), std::move(carried));
  unit.reviewed = true;
}

bool TranslationBatch::Divide(const Participant& participant, size_t index,
                              bool only_number) const {
  constexpr size_t kMostLevels = 3;
  constexpr size_t kFewestTokens = 8;  // the least that a sentence needs to be divided
  TranslationPlan& plan = *participant.plan;
  std::deque<TranslationUnit>& units = plan.units();
  TranslationUnit& whole = units[index];
  if (whole.level >= kMostLevels || (whole.tokens < kFewestTokens && !only_number)) return false;
  const std::string_view text = whole.sentence.marked.text;
  const size_t least = text.size() / 5;
  const size_t most = text.size() - least;
  size_t cut = FindClauseCut(text, least, most, plan.settings().source_language);
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
    BeginUnit(
        participant, *part,
        vocabularies_.source->Encode(part->sentence.marked.text, limits_.max_source_tokens).tokens);
  }
  return true;
}

std::vector<std::string> TranslationBatch::LostOf(const TranslationUnit& unit,
                                                  std::string_view translation) const {
  std::map<std::string_view, size_t> wanted;
  for (const KeptSpan& kept : unit.sentence.marked.kept) ++wanted[kept.becomes];
  for (const std::string& part : unit.unread) ++wanted[part];
  std::vector<std::string> lost = unit.missing;
  for (const auto& [part, count] : wanted) {
    if (!part.empty() && CountIn(translation, part) < count) lost.emplace_back(part);
  }
  return lost;
}

void TranslationBatch::Emit(const Participant& participant, TranslationUnit& unit) const {
  const models::TranslateInput& input = InputOf(*participant.request);
  models::TranslateOutput output;
  output.text_index = unit.text;
  output.text_finished = unit.text_finished;
  std::string behind = BehindOf(unit, unit.translated.text);
  MarkedText translated = std::move(unit.copied ? unit.sentence.marked : unit.translated);
  if (!unit.sentence.has_words) ConvertNumbers(translated, participant.plan->formats());
  output.text = Untouched(translated);
  if (!unit.copied) {
    output.lost = LostOf(unit, output.text);
    output.text.erase(0, std::min(unit.emitted, output.text.size()));
    output.source_tokens = static_cast<int64_t>(unit.tokens);
    output.target_tokens = static_cast<int64_t>(unit.begun.size() + unit.job.target.size());
    const std::vector<Hypothesis>& found = unit.job.found;
    if (!found.empty()) output.score = found.front().score;
    for (size_t i = 1; i < found.size(); ++i) {
      const MarkedText other = Restored(*participant.plan, unit, found[i].tokens, {});
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

void TranslationBatch::Complete() {
  begun_ = false;
  for (const Participant& participant : participants_) {
    models::Request& request = *participant.request;
    std::deque<TranslationUnit>& units = participant.plan->units();
    if (std::ranges::any_of(units, [](const auto& unit) { return unit.job.stopped; })) {
      request.Finish(request.cancelled()
                         ? absl::CancelledError("cancelled")
                         : absl::DeadlineExceededError("the deadline passed during translation"));
      continue;
    }
    for (size_t i = 0; i < units.size();) {
      const bool waits = units[i].copied || units[i].reviewed || !units[i].done();
      if (waits || !Review(participant, i)) ++i;
    }
    while (!units.empty()) {
      TranslationUnit& unit = units.front();
      // The part that it repeats is done; it is translated again if the cache has evicted that
      // part.
      if (unit.repeats && !participant.plan->parts().Find(unit.job)) unit.repeats = false;
      if (!unit.done()) break;
      if (!unit.copied && !unit.reviewed && Review(participant, 0)) continue;
      if (!unit.copied) participant.plan->SetHasTranslated();
      Emit(participant, unit);
      if (unit.remember) cache_.Insert(unit.job);
      if (unit.is_part && !unit.copied && !unit.repeats) participant.plan->parts().Insert(unit.job);
      units.pop_front();
    }
    request.AdvanceTo(participant.plan->WorkLeft());
    if (!units.empty()) {
      EmitPart(participant, units.front());
    } else if (participant.plan->all_taken()) {
      request.Finish(absl::OkStatus());
    }
  }
}

}  // namespace millrace::translation
