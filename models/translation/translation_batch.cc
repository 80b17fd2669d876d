#include "models/translation/translation_batch.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

// The plan of a request, made when it is first seen.
TranslationPlan* PlanOf(Request& request) {
  if (request.state() == nullptr) {
    const auto& input = std::get<TranslateInput>(request.input());
    request.set_state(std::make_unique<TranslationPlan>(input.texts));
  }
  return static_cast<TranslationPlan*>(request.state());
}

size_t LeadingSpace(std::string_view text) {
  size_t at = 0;
  for (CodePoint c = DecodeAt(text, at); c.bytes > 0 && IsSpace(c.value); c = DecodeAt(text, at)) {
    at += c.bytes;
  }
  return at;
}

}  // namespace

TranslationBatch::TranslationBatch(std::span<Request* const> requests, const StepLimits& limits,
                                   absl::FunctionRef<SentenceFrame(const TranslateInput&)> frame_of,
                                   const Vocabulary& vocabulary, const TranslationEngine& engine)
    : vocabulary_(vocabulary), engine_(engine) {
  for (Request* request : requests) {
    TranslationPlan* plan = PlanOf(*request);
    participants_.push_back(
        {request, plan, frame_of(std::get<TranslateInput>(request->input())), plan->begin(), {}});
  }
  bool more = true;
  for (size_t round = 0; more; ++round) {
    more = false;
    for (size_t i = 0; i < participants_.size(); ++i) {
      const bool full = units_ >= limits.max_sentences || tokens_ >= limits.max_step_tokens;
      if (round > 0 && full) return;
      more = TakeNext(i, limits) || more;
    }
  }
}

bool TranslationBatch::TakeNext(size_t index, const StepLimits& limits) {
  Participant& participant = participants_[index];
  const TranslationPlan& plan = *participant.plan;
  const TextCursor at = participant.next;
  if (plan.AtEnd(at)) return false;
  Unit unit;
  unit.begin = at;
  unit.sentence = plan.At(at);
  const size_t framing = participant.frame.before.size() + participant.frame.after.size();
  auto [words, bytes] = vocabulary_.Encode(unit.sentence.text, limits.max_source_tokens - framing);
  if (bytes < unit.sentence.text.size()) {
    const std::string_view rest = unit.sentence.text.substr(bytes);
    unit.sentence = {unit.sentence.text.substr(0, bytes), rest.substr(0, LeadingSpace(rest))};
    bytes += unit.sentence.space.size();
  }
  unit.end = plan.After(at, bytes);
  unit.text_finished = unit.end.text != at.text;
  // A unit that needs no job has been encoded all the same: it counts as the others do.
  ++units_;
  tokens_ += words.size() + framing;
  unit.words = words.size();
  if (vocabulary_.AnyKnown(words)) {
    unit.job = jobs_.size();
    jobs_.push_back(MakeSentenceJob(words, participant.frame, limits.max_length_factor));
    owners_.push_back(index);
  }
  participant.next = unit.end;
  participant.units.push_back(std::move(unit));
  return true;
}

void TranslationBatch::Forward(runtime::WorkerContext& context) {
  engine_.Translate(
      jobs_, [this](size_t job) { return participants_[owners_[job]].request->ShouldStop(); },
      context);
}

bool TranslationBatch::Stopped(const Participant& participant) const {
  return std::ranges::any_of(
      participant.units, [this](const Unit& unit) { return unit.job && jobs_[*unit.job].stopped; });
}

void TranslationBatch::Emit(const Participant& participant, const Unit& unit) const {
  TranslateOutput output;
  output.text_index = unit.begin.text;
  output.text_finished = unit.text_finished;
  if (unit.job) {
    const SentenceJob& job = jobs_[*unit.job];
    output.text = vocabulary_.Decode(job.target);
    output.source_tokens = static_cast<int64_t>(unit.words);
    output.target_tokens = static_cast<int64_t>(job.target.size());
  } else {
    output.text = unit.sentence.text;
  }
  output.text += unit.sentence.space;
  participant.request->Emit(std::move(output));
}

void TranslationBatch::Complete() {
  for (const Participant& participant : participants_) {
    Request& request = *participant.request;
    if (Stopped(participant)) {
      request.Finish(request.cancelled()
                         ? absl::CancelledError("cancelled")
                         : absl::DeadlineExceededError("the deadline passed during translation"));
      continue;
    }
    for (const Unit& unit : participant.units) Emit(participant, unit);
    participant.plan->Advance(participant.next);
    if (participant.plan->AtEnd(participant.next)) request.Finish(absl::OkStatus());
  }
}

}  // namespace millrace::models
