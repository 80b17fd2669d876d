#include <algorithm>
#include <cstddef>
#include <cstring>

#include "models/core/errors.h"
#include "server/executors/message_fields.h"
#include "server/executors/task_messages.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

template <typename Part, typename Message>
void CopyPart(Part& part, Message& message) {
  MILLRACE_COPY(part, message, begin, end, pause, break_before);
  MILLRACE_COPY(part.manner, message, voice, language, speed, gain_db);
}

template <typename Reading, typename Message>
void CopyReading(Reading& reading, Message& message) {
  MILLRACE_COPY(reading, message, begin, end, written, phonemes, is_ipa, place);
}

template <typename Anchor, typename Message>
void CopyAnchor(Anchor& anchor, Message& message) {
  MILLRACE_COPY(anchor, message, byte, character);
}

template <typename Spoken, typename Message>
void CopySpoken(Spoken& spoken, Message& message) {
  MILLRACE_COPY(spoken, message, bytes, sentences);
}

template <typename Span, typename Message>
void CopySpan(Span& span, Message& message) {
  MILLRACE_COPY(span, message, text, begin, end, character);
}

template <typename Input, typename Message>
void CopySpeechInput(Input& input, Message& message) {
  MILLRACE_COPY(input, message, text, is_phonemes, language, voice, speed, noise_scale, noise_w,
                seed, streamed, first_sentence, part_of_text, break_before, sentence_pause,
                paragraph_pause, word_times, phoneme_times, use_cache);
  MILLRACE_COPY(input.markup, message, pause_after);
  MILLRACE_COPY_EACH(input.markup, message, parts, CopyPart);
  MILLRACE_COPY_EACH(input.markup, message, readings, CopyReading);
  MILLRACE_COPY_EACH(input.markup, message, anchors, CopyAnchor);
}

template <typename Output, typename Message>
void CopySpeechOutput(Output& output, Message& message) {
  MILLRACE_COPY(output, message, sample_rate, sentence_index, text, sentence_finished);
  MILLRACE_COPY_EACH(output, message, words, CopySpan);
  MILLRACE_COPY_EACH(output, message, phonemes, CopySpan);
}

absl::Status CheckSynthesis(const wire::SynthesizeInput& message) {
  constexpr auto kLast = models::SpeechBreak::kParagraph;
  MILLRACE_RETURN_IF_ERROR(CheckEnum(message.break_before(), kLast, "break of a text"));
  for (const wire::SpeechPart& part : message.parts())
    MILLRACE_RETURN_IF_ERROR(CheckEnum(part.break_before(), kLast, "break of a part"));
  const size_t size = message.text().size();
  if (!FollowEachOther(message.parts(), size)) return Malformed("a part of a text is out of it");
  if (!FollowEachOther(message.readings(), size) ||
      std::ranges::any_of(message.readings(),
                          [](const auto& reading) { return reading.begin() == reading.end(); }))
    return Malformed("a reading is out of its text");
  size_t last = 0;
  for (const wire::SpeechAnchor& anchor : message.anchors()) {
    if (anchor.byte() < last || anchor.byte() > size)
      return Malformed("an anchor is out of its text");
    last = anchor.byte();
  }
  if (message.spoken().bytes() > size) return Malformed("more of a text was spoken than it has");
  return absl::OkStatus();
}

}  // namespace

void WriteTask(const models::SynthesizeInput& input, wire::Input& message, Behind& /*behind*/) {
  wire::SynthesizeInput& to = *message.mutable_synthesize();
  CopySpeechInput(input, to);
  if (input.spoken != models::SpokenSoFar()) CopySpoken(input.spoken, *to.mutable_spoken());
}

absl::StatusOr<models::Input> ReadTask(const wire::SynthesizeInput& message,
                                       BehindReader& /*behind*/) {
  MILLRACE_RETURN_IF_ERROR(CheckSynthesis(message));
  models::SynthesizeInput input;
  CopySpeechInput(input, message);
  CopySpoken(input.spoken, message.spoken());
  return input;
}

void WriteTask(const models::SynthesizeOutput& output, wire::Output& message, Behind& behind) {
  wire::SynthesizeOutput& to = *message.mutable_synthesize();
  CopySpeechOutput(output, to);
  const size_t bytes = output.samples.size() * sizeof(float);
  to.set_samples_bytes(bytes);
  behind.emplace_back(reinterpret_cast<const char*>(output.samples.data()), bytes);
  if (output.spoken != models::SpokenSoFar()) CopySpoken(output.spoken, *to.mutable_spoken());
}

absl::StatusOr<models::Output> ReadTask(const wire::SynthesizeOutput& message,
                                        BehindReader& behind) {
  MILLRACE_ASSIGN_OR_RETURN(const auto samples, behind.Take(message.samples_bytes()));
  if (samples.size() % sizeof(float) != 0) return Malformed("a sample is cut");
  constexpr int kMostHertz = 1'000'000;
  if (message.sample_rate() <= 0 || message.sample_rate() > kMostHertz)
    return Malformed(StrCat("the sample rate ", message.sample_rate(), " is out of range"));
  models::SynthesizeOutput output;
  CopySpeechOutput(output, message);
  CopySpoken(output.spoken, message.spoken());
  output.samples.resize(samples.size() / sizeof(float));
  if (!samples.empty()) std::memcpy(output.samples.data(), samples.data(), samples.size());
  return output;
}

}  // namespace millrace::server
