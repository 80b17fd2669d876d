#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "models/core/errors.h"
#include "models/translation/markup/source_sentences.h"
#include "mps_runtime/base/mutex.h"
#include "server/executors/message_fields.h"
#include "server/executors/task_messages.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

// Returns a text of the few that models read in place of kept spans, in static storage.
std::optional<std::string_view> Interned(const std::string& text) {
  constexpr size_t kMost = 256;
  static Mutex mu;
  static auto& texts = *new std::set<std::string>;
  const MutexLock lock(mu);
  auto found = texts.find(text);
  if (found == texts.end()) {
    if (texts.size() >= kMost) return std::nullopt;
    found = texts.insert(text).first;
  }
  return *found;
}

void WritePivot(const models::PivotSentence* pivot, wire::PivotSentence& message) {
  const auto* sentence = static_cast<const translation::TranslatedSentence*>(pivot);
  message.set_is_set(sentence != nullptr);
  if (sentence == nullptr) return;
  const translation::MarkedText& marked = sentence->marked;
  message.set_text(marked.text);
  message.set_is_html(marked.is_html);
  message.set_behind(sentence->behind);
  for (const translation::MarkEvent& event : marked.events) {
    wire::PivotSentence::Event& to = *message.add_events();
    to.set_at(event.at);
    to.set_kind(static_cast<uint32_t>(event.kind));
    to.set_markup(event.markup);
  }
  for (const translation::KeptSpan& kept : marked.kept) {
    wire::PivotSentence::Kept& to = *message.add_kept();
    to.set_begin(kept.begin);
    to.set_end(kept.end);
    to.set_becomes(kept.becomes);
    if (kept.reads) to.set_reads(std::string(*kept.reads));
    to.set_returns(kept.returns);
  }
  for (const translation::Spelling& spelling : marked.spellings) {
    wire::PivotSentence::Spelling& to = *message.add_spellings();
    to.set_begin(spelling.begin);
    to.set_end(spelling.end);
    to.set_written(spelling.written);
  }
}

absl::StatusOr<std::shared_ptr<const models::PivotSentence>> ReadPivot(
    const wire::PivotSentence& message) {
  if (!message.is_set()) return nullptr;
  translation::MarkedText marked;
  marked.text = message.text();
  marked.is_html = message.is_html();
  const size_t size = marked.text.size();
  size_t last = 0;
  for (const wire::PivotSentence::Event& event : message.events()) {
    MILLRACE_ASSIGN_OR_RETURN(const auto kind,
                              ReadEnum(event.kind(), translation::MarkEvent::Kind::kAlone, "mark"));
    if (event.at() < last || event.at() > size) return Malformed("a mark is out of its text");
    last = event.at();
    marked.events.push_back({event.at(), kind, event.markup()});
  }
  last = 0;
  for (const wire::PivotSentence::Kept& kept : message.kept()) {
    if (kept.begin() < last || kept.end() < kept.begin() || kept.end() > size)
      return Malformed("a protected span is out of its text");
    last = kept.end();
    translation::KeptSpan span{kept.begin(), kept.end(), kept.becomes(), {}, kept.returns()};
    if (kept.has_reads()) {
      span.reads = Interned(kept.reads());
      if (!span.reads) return Malformed("too many texts in place of protected spans");
    }
    marked.kept.push_back(std::move(span));
  }
  last = 0;
  for (const wire::PivotSentence::Spelling& spelling : message.spellings()) {
    if (spelling.begin() < last || spelling.end() < spelling.begin() || spelling.end() > size)
      return Malformed("a spelling is out of its text");
    last = spelling.end();
    marked.spellings.push_back({spelling.begin(), spelling.end(), spelling.written()});
  }
  return std::make_shared<translation::TranslatedSentence>(std::move(marked), message.behind());
}

void WriteSearch(const models::SearchOverrides& search, wire::Search& to) {
  if (search.beam_size) to.set_beam_size(*search.beam_size);
  if (search.hypotheses) to.set_hypotheses(*search.hypotheses);
  if (search.length_penalty) to.set_length_penalty(*search.length_penalty);
  if (search.no_repeat_ngram_size) to.set_no_repeat_ngram_size(*search.no_repeat_ngram_size);
  if (search.repetition_penalty) to.set_repetition_penalty(*search.repetition_penalty);
  if (search.min_target_tokens) to.set_min_target_tokens(*search.min_target_tokens);
  if (search.max_target_tokens) to.set_max_target_tokens(*search.max_target_tokens);
  if (!search.sampling) return;
  to.mutable_sampling()->set_temperature(search.sampling->temperature);
  to.mutable_sampling()->set_top_k(search.sampling->top_k);
  to.mutable_sampling()->set_top_p(search.sampling->top_p);
  to.mutable_sampling()->set_seed(search.sampling->seed);
}

models::SearchOverrides ReadSearch(const wire::Search& message) {
  models::SearchOverrides search;
  if (message.has_beam_size()) search.beam_size = message.beam_size();
  if (message.has_hypotheses()) search.hypotheses = message.hypotheses();
  if (message.has_length_penalty()) search.length_penalty = message.length_penalty();
  if (message.has_no_repeat_ngram_size())
    search.no_repeat_ngram_size = message.no_repeat_ngram_size();
  if (message.has_repetition_penalty()) search.repetition_penalty = message.repetition_penalty();
  if (message.has_min_target_tokens()) search.min_target_tokens = message.min_target_tokens();
  if (message.has_max_target_tokens()) search.max_target_tokens = message.max_target_tokens();
  if (message.has_sampling()) {
    const wire::Sampling& sampling = message.sampling();
    search.sampling = models::SamplingOverride{.temperature = sampling.temperature(),
                                               .top_k = sampling.top_k(),
                                               .top_p = sampling.top_p(),
                                               .seed = sampling.seed()};
  }
  return search;
}

}  // namespace

void WriteTask(const models::TranslateInput& input, wire::Input& message, Behind& /*behind*/) {
  wire::TranslateInput& to = *message.mutable_translate();
  AddAll(input.texts, to.mutable_texts());
  to.set_source_language(input.source_language);
  to.set_target_language(input.target_language);
  if (input.search != models::SearchOverrides()) WriteSearch(input.search, *to.mutable_search());
  AddAll(input.target_prefixes, to.mutable_target_prefixes());
  to.set_format(static_cast<uint32_t>(input.format));
  for (const models::GlossaryEntry& entry : input.glossary) {
    wire::Term& term = *to.add_glossary();
    term.set_source(entry.source);
    term.set_target(entry.target);
  }
  AddAll(input.do_not_translate, to.mutable_do_not_translate());
  to.set_partial(input.partial);
  to.set_use_cache(input.use_cache);
  to.set_for_pivot(input.for_pivot);
  to.set_first_soon(input.first_soon);
  for (const auto& pivot : input.pivot_sentences)
    WritePivot(pivot.get(), *to.add_pivot_sentences());
}

absl::StatusOr<models::Input> ReadTask(const wire::TranslateInput& message,
                                       BehindReader& /*behind*/) {
  models::TranslateInput input;
  input.texts = ToVector(message.texts());
  if (input.texts.empty()) return Malformed("there is no text to translate");
  input.source_language = message.source_language();
  input.target_language = message.target_language();
  input.search = ReadSearch(message.search());
  input.target_prefixes = ToVector(message.target_prefixes());
  MILLRACE_ASSIGN_OR_RETURN(
      const auto format,
      ReadEnum(message.format(), models::TextFormat::kMarkdown, "format of a text"));
  input.format = format;
  for (const wire::Term& term : message.glossary())
    input.glossary.push_back({term.source(), term.target()});
  input.do_not_translate = ToVector(message.do_not_translate());
  input.partial = message.partial();
  input.use_cache = message.use_cache();
  input.for_pivot = message.for_pivot();
  input.first_soon = message.first_soon();
  for (const wire::PivotSentence& pivot : message.pivot_sentences()) {
    MILLRACE_ASSIGN_OR_RETURN(auto sentence, ReadPivot(pivot));
    input.pivot_sentences.push_back(std::move(sentence));
  }
  for (const size_t size : {input.target_prefixes.size(), input.pivot_sentences.size()}) {
    if (size != 0 && size != input.texts.size())
      return Malformed("there are not as many prefixes or pivot sentences as texts");
  }
  return input;
}

void WriteTask(const models::TranslateOutput& output, wire::Output& message, Behind& /*behind*/) {
  wire::TranslateOutput& to = *message.mutable_translate();
  to.set_text_index(output.text_index);
  to.set_text(output.text);
  to.set_text_finished(output.text_finished);
  to.set_source_tokens(output.source_tokens);
  to.set_target_tokens(output.target_tokens);
  to.set_sentence_finished(output.sentence_finished);
  to.set_score(output.score);
  for (const models::TranslationAlternative& alternative : output.alternatives) {
    to.add_alternatives()->set_text(alternative.text);
    to.mutable_alternatives()->rbegin()->set_score(alternative.score);
  }
  AddAll(output.lost, to.mutable_lost());
  if (output.pivot_sentence != nullptr)
    WritePivot(output.pivot_sentence.get(), *to.mutable_pivot_sentence());
}

absl::StatusOr<models::Output> ReadTask(const wire::TranslateOutput& message,
                                        BehindReader& /*behind*/) {
  models::TranslateOutput output;
  output.text_index = message.text_index();
  output.text = message.text();
  output.text_finished = message.text_finished();
  output.source_tokens = message.source_tokens();
  output.target_tokens = message.target_tokens();
  output.sentence_finished = message.sentence_finished();
  output.score = message.score();
  for (const wire::Alternative& alternative : message.alternatives())
    output.alternatives.push_back({alternative.text(), alternative.score()});
  output.lost = ToVector(message.lost());
  MILLRACE_ASSIGN_OR_RETURN(output.pivot_sentence, ReadPivot(message.pivot_sentence()));
  return output;
}

}  // namespace millrace::server
