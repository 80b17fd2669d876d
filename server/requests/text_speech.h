#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/requests/reply_buffer.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_request.h"
#include "server/requests/text_stream.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A piece of encoded speech, and what of the text is heard from its beginning on.
struct SpokenPiece {
  std::string audio;  // perhaps none yet
  // With the first piece of a sentence: its text and its words, whose times are of the whole audio.
  std::string text;
  std::vector<models::SpokenSpan> words;
  size_t sentence_index = 0;
  bool sentence_finished = false;
  int sample_rate = 0;   // hertz, of the times; 0: the rest of the encoder's audio
  int64_t begin = 0;     // where in the audio the piece begins, in samples
  int encoded_rate = 0;  // hertz, of the audio
};

// A text that is spoken while it is being written, over a protocol whose connections share a
// thread. Workers add pieces, and that thread takes them.
//
// It is shared by the connection and, until its end, by the work; the last of them counts the
// request and returns its ticket.
class TextSpeech final : public Reply, public SelfShared<TextSpeech>, private TextStream::Listener {
 public:
  // changed: called on any thread when there is something to take, or text is wanted again; it must
  // outlive all copies of the pointer to this.
  TextSpeech(Services& services, Method method, Requester requester, std::function<void()> changed);
  ~TextSpeech() override;

  // Begins, or ends with the error of the options, which have no text. Must be called once, before
  // anything else.
  void Start(absl::StatusOr<SpeechRequest> options);

  // These are called by the connection's thread. They never block.

  // Speaks a whole text.
  void Speak(std::string_view text);
  // Adds text, which may be empty. flush: see TextStream::Push.
  void Push(std::string_view text, bool flush);
  // Ends the text.
  void EndText();
  bool WantsText() const { return text_.WantsText(); }
  // Returns the time since which it waits for text; TimePoint::max() while it does not.
  TimePoint waiting_since() const { return text_.waiting_since(); }
  TimePoint deadline() const { return text_.deadline(); }
  // Stops the work and ends with the error. Idempotent.
  void Fail(const absl::Status& status) { text_.Fail(status); }
  // Returns the sample rate of the audio in hertz, once it has ended without an error.
  int encoded_rate() const { return text_.encoding().output_rate; }

  // Returns the next piece, without waiting for it.
  std::optional<SpokenPiece> Take() { return buffer_.Pop(); }
  // Returns the end once all pieces are taken.
  std::optional<absl::Status> end() const { return buffer_.end(); }
  // Returns true while pieces, or the end, are there to be taken.
  bool has_output() const { return !buffer_.empty() || buffer_.end(); }
  // Records that the client received the end.
  void Delivered() { buffer_.SetDelivered(); }

  void Emit(models::Output output) override { text_.Emit(std::move(output)); }
  void Finish(const absl::Status& status) override { text_.OnJobEnd(status); }
  bool Congested() const override { return buffer_.Congested(); }
  void Park(std::unique_ptr<Job> job) override { buffer_.Park(std::move(job)); }

 private:
  // Returns true if the text was taken.
  bool TakeText(std::string_view text, bool flush);
  void OnAudio(const std::string& bytes, models::SynthesizeOutput piece) override;
  void OnTextWanted() override { changed_(); }
  void DropParked() override { buffer_.Stop(); }
  void OnEnd(const absl::Status& status) override;

  void Append(SpokenPiece piece);

  RequestRun run_;
  const Requester requester_;
  const std::function<void()> changed_;
  TextStream text_;
  int64_t samples_ = 0;  // so far; only the worker that has the job uses it
  ReplyBuffer<SpokenPiece> buffer_;
};

}  // namespace millrace::server
