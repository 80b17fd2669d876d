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

template <typename Event, typename Message>
void CopyEvent(Event& event, Message& message) {
  MILLRACE_COPY(event, message, at, kind, markup);
}

template <typename Kept, typename Message>
void CopyKept(Kept& kept, Message& message) {
  MILLRACE_COPY(kept, message, begin, end, becomes, returns);
}

template <typename Spelling, typename Message>
void CopySpelling(Spelling& spelling, Message& message) {
  MILLRACE_COPY(spelling, message, begin, end, written);
}

template <typename Marked, typename Message>
void CopyMarked(Marked& marked, Message& message) {
  MILLRACE_COPY(marked, message, text, is_html);
  MILLRACE_COPY_EACH(marked, message, events, CopyEvent);
  MILLRACE_COPY_EACH(marked, message, kept, CopyKept);
  MILLRACE_COPY_EACH(marked, message, spellings, CopySpelling);
}

void WritePivot(const models::PivotSentence* pivot, wire::PivotSentence& message) {
  const auto* sentence = static_cast<const translation::TranslatedSentence*>(pivot);
  message.set_is_set(sentence != nullptr);
  if (sentence == nullptr) return;
  const translation::MarkedText& marked = sentence->marked;
  CopyMarked(marked, message);
  message.set_behind(sentence->behind);
  for (size_t i = 0; i < marked.kept.size(); ++i) {
    if (const auto& reads = marked.kept[i].reads)
      message.mutable_kept(static_cast<int>(i))->set_reads(std::string(*reads));
  }
}

absl::StatusOr<std::shared_ptr<const models::PivotSentence>> ReadPivot(
    const wire::PivotSentence& message) {
  if (!message.is_set()) return nullptr;
  translation::MarkedText marked;
  CopyMarked(marked, message);
  const size_t size = marked.text.size();
  size_t last = 0;
  for (const wire::PivotSentence::Event& event : message.events()) {
    MILLRACE_RETURN_IF_ERROR(CheckEnum(event.kind(), translation::MarkEvent::Kind::kAlone, "mark"));
    if (event.at() < last || event.at() > size) return Malformed("a mark is out of its text");
    last = event.at();
  }
  if (!FollowEachOther(message.kept(), size))
    return Malformed("a protected span is out of its text");
  if (!FollowEachOther(message.spellings(), size))
    return Malformed("a spelling is out of its text");
  for (size_t i = 0; i < marked.kept.size(); ++i) {
    const wire::PivotSentence::Kept& kept = message.kept(static_cast<int>(i));
    if (!kept.has_reads()) continue;
    marked.kept[i].reads = Interned(kept.reads());
    if (!marked.kept[i].reads) return Malformed("too many texts in place of protected spans");
  }
  return std::make_shared<translation::TranslatedSentence>(std::move(marked), message.behind());
}

template <typename Sampling, typename Message>
void CopySampling(Sampling& sampling, Message& message) {
  MILLRACE_COPY(sampling, message, temperature, top_k, top_p, seed);
}

template <typename Search, typename Message>
void CopySearch(Search& search, Message& message) {
  MILLRACE_COPY(search, message, beam_size, hypotheses, length_penalty, no_repeat_ngram_size,
                repetition_penalty, min_target_tokens, max_target_tokens);
}

template <typename Entry, typename Message>
void CopyTerm(Entry& entry, Message& message) {
  MILLRACE_COPY(entry, message, source, target);
}

template <typename Input, typename Message>
void CopyTranslateInput(Input& input, Message& message) {
  MILLRACE_COPY(input, message, texts, source_language, target_language, target_prefixes, format,
                do_not_translate, partial, use_cache, for_pivot, first_soon);
  MILLRACE_COPY_EACH(input, message, glossary, CopyTerm);
}

template <typename Alternative, typename Message>
void CopyAlternative(Alternative& alternative, Message& message) {
  MILLRACE_COPY(alternative, message, text, score);
}

template <typename Output, typename Message>
void CopyTranslateOutput(Output& output, Message& message) {
  MILLRACE_COPY(output, message, text_index, text, text_finished, source_tokens, target_tokens,
                sentence_finished, score, lost);
  MILLRACE_COPY_EACH(output, message, alternatives, CopyAlternative);
}

}  // namespace

void WriteTask(const models::TranslateInput& input, wire::Input& message, Behind& /*behind*/) {
  wire::TranslateInput& to = *message.mutable_translate();
  CopyTranslateInput(input, to);
  if (input.search != models::SearchOverrides()) CopySearch(input.search, *to.mutable_search());
  if (input.search.sampling)
    CopySampling(*input.search.sampling, *to.mutable_search()->mutable_sampling());
  for (const auto& pivot : input.pivot_sentences)
    WritePivot(pivot.get(), *to.add_pivot_sentences());
}

absl::StatusOr<models::Input> ReadTask(const wire::TranslateInput& message,
                                       BehindReader& /*behind*/) {
  models::TranslateInput input;
  CopyTranslateInput(input, message);
  if (input.texts.empty()) return Malformed("there is no text to translate");
  MILLRACE_RETURN_IF_ERROR(
      CheckEnum(message.format(), models::TextFormat::kMarkdown, "format of a text"));
  CopySearch(input.search, message.search());
  if (message.search().has_sampling())
    CopySampling(input.search.sampling.emplace(), message.search().sampling());
  for (const wire::PivotSentence& pivot : message.pivot_sentences()) {
    MILLRACE_ASSIGN_OR_RETURN(input.pivot_sentences.emplace_back(), ReadPivot(pivot));
  }
  for (const size_t size : {input.target_prefixes.size(), input.pivot_sentences.size()}) {
    if (size != 0 && size != input.texts.size())
      return Malformed("there are not as many prefixes or pivot sentences as texts");
  }
  return input;
}

void WriteTask(const models::TranslateOutput& output, wire::Output& message, Behind& /*behind*/) {
  wire::TranslateOutput& to = *message.mutable_translate();
  CopyTranslateOutput(output, to);
  if (output.pivot_sentence != nullptr)
    WritePivot(output.pivot_sentence.get(), *to.mutable_pivot_sentence());
}

absl::StatusOr<models::Output> ReadTask(const wire::TranslateOutput& message,
                                        BehindReader& /*behind*/) {
  models::TranslateOutput output;
  CopyTranslateOutput(output, message);
  MILLRACE_ASSIGN_OR_RETURN(output.pivot_sentence, ReadPivot(message.pivot_sentence()));
  return output;
}

}  // namespace millrace::server
