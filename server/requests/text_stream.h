#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/core/payload.h"
#include "models/speech/markup/marked_text.h"
#include "models/speech/markup/ssml_stream.h"
#include "models/text/sentence_stream.h"
#include "mps_runtime/base/mutex.h"
#include "server/requests/request_run.h"
#include "server/requests/speech_audio.h"
#include "server/requests/speech_request.h"

namespace millrace::server {

// Checks how texts would be spoken, before there are any. Returns the form of their audio.
absl::StatusOr<models::AudioEncoderOptions> CheckStreamOptions(SpeechRequest options,
                                                               const Services& services);

// Speaks a text that is still being written, as one request of any protocol. Complete sentences
// that have arrived are spoken as one job after another, so the request queues like any other and
// occupies no worker while it waits for text.
//
// It is a member of the request's Reply, which forwards Emit, and Finish as OnJobEnd. Text must be
// added on one thread at a time; the rest is thread-safe.
class TextStream {
 public:
  // Implemented by the protocol.
  class Listener {
   public:
    virtual ~Listener() = default;
    // Takes audio; the positions of its sentence and words are those in the whole text. Called on
    // the worker.
    virtual void OnAudio(const std::string& bytes, models::SynthesizeOutput piece) = 0;
    // Called when the stream wants text again after it had enough. Any thread.
    virtual void OnTextWanted() = 0;
    // Must end the job that is parked at the client, if there is one.
    virtual void DropParked() = 0;
    // Called once, at the end. The stream may be destroyed in this call.
    virtual void OnEnd(const absl::Status& status) = 0;
  };

  // The most characters of a stream.
  static constexpr size_t kMaxCharacters = 1'000'000;

  // limit: its patience is also that for the next text.
  TextStream(RequestRun& run, const models::TimeLimit& limit, Listener& listener)
      : run_(run), limit_(limit), listener_(listener) {}
  TextStream(const TextStream&) = delete;
  TextStream& operator=(const TextStream&) = delete;

  // Sets how the text is spoken. Must be called before any text, and may be called again until
  // there is some. The config's errors are returned now, not when the first sentence has arrived.
  // The request has no text and no phonemes.
  absl::Status Configure(SpeechRequest config);
  bool configured() const { return config_.has_value(); }
  // Adds text. `flush`: its last sentence is spoken although it may not have ended. A document of
  // SSML is spoken once the text has ended; of SSML without one, an element is spoken as a whole,
  // even if there is a flush before its end.
  absl::Status Push(std::string_view text, bool flush) MILLRACE_EXCLUDES(text_mu_);
  // Ends the text.
  void EndText() MILLRACE_EXCLUDES(text_mu_);
  // Speaks the text that is ready, or ends the stream when nothing more will come. Must be called
  // after Push and EndText, as the last call of a function: the stream may be destroyed before it
  // returns.
  void Advance() MILLRACE_EXCLUDES(text_mu_) { Advance(std::nullopt); }
  // Ends the stream with an error, now or when its job has stopped. Later errors are ignored. Must
  // be the last call of a function, on the thread of the text.
  void Fail(const absl::Status& status) MILLRACE_EXCLUDES(text_mu_);

  // Returns false while enough text waits, and once no more is taken.
  bool WantsText() const MILLRACE_EXCLUDES(text_mu_);
  // Returns the time since which the stream waits for text; TimePoint::max() while it does not.
  TimePoint waiting_since() const MILLRACE_EXCLUDES(text_mu_);
  // Returns when the stream ends because no text comes, or its client's deadline passes. A job has
  // a time of its own.
  TimePoint deadline() const MILLRACE_EXCLUDES(text_mu_);

  // The Reply must forward its Emit, and its Finish, which ends one of the jobs, to these
  // functions.
  void Emit(models::Output output);
  void OnJobEnd(const absl::Status& status) MILLRACE_EXCLUDES(text_mu_);

  // Called in OnAudio and OnEnd.
  const models::AudioEncoderOptions& encoding() const { return audio_.encoding(); }
  size_t sentences() const { return sentences_; }  // number begun so far
  // Returns the rest of the audio, at the end.
  absl::StatusOr<std::string> FlushAudio() { return audio_.Flush(); }

 private:
  // A job may end while it is still being queued; the thread that queues it then handles the end.
  enum class JobState { kNone, kBeingQueued, kQueued };

  // Records a job's end, then does the same as Advance.
  void Advance(std::optional<absl::Status> job_end) MILLRACE_EXCLUDES(text_mu_);
  // Makes the next job of the text in config_.
  absl::StatusOr<Work> MakeWork();
  // Returns the time of a job that begins now.
  models::TimeLimit NextLimit() const;
  void EndJob(const absl::Status& status) MILLRACE_REQUIRES(text_mu_);
  // Returns what can be spoken once this text has come, or has come with a flush.
  std::string TakeEnded(std::string_view text, bool flush) MILLRACE_REQUIRES(text_mu_);
  // Returns the text for the next job, and counts it.
  std::string TakeReady() MILLRACE_REQUIRES(text_mu_);
  bool is_fragment() const {
    return config_ && config_->text_format == SpeechTextFormat::kSsmlFragment;
  }
  bool is_document() const { return config_ && config_->text_format == SpeechTextFormat::kSsml; }

  Services& services() const { return run_.services(); }

  RequestRun& run_;
  const models::TimeLimit limit_;
  Listener& listener_;
  std::optional<SpeechRequest> config_;  // its text is what is spoken next

  // Used by the stream's job, of which there is one at a time.
  SpeechAudio audio_;
  size_t first_sentence_ = 0;   // the job's, within the stream
  size_t first_character_ = 0;  // the job's, within the text of the stream
  size_t sentences_ = 0;
  std::string text_before_;  // the end of the previous job's text, with its white space
  bool paused_ = false;      // the text before ended with a pause of its own
  models::SpeechBreak break_before_ = models::SpeechBreak::kNone;  // by its markup

  mutable Mutex text_mu_;
  models::SentenceStream sentences_in_ MILLRACE_GUARDED_BY(text_mu_);
  speech::SsmlStream ssml_in_ MILLRACE_GUARDED_BY(text_mu_);  // in place of it
  std::string ready_ MILLRACE_GUARDED_BY(text_mu_);           // for the next job
  size_t characters_ MILLRACE_GUARDED_BY(text_mu_) = 0;
  size_t characters_done_ MILLRACE_GUARDED_BY(text_mu_) = 0;       // before ready_
  speech::SourcePlace ready_place_ MILLRACE_GUARDED_BY(text_mu_);  // where ready_ begins
  TimePoint last_text_ MILLRACE_GUARDED_BY(text_mu_) = run_.start();
  bool ended_ MILLRACE_GUARDED_BY(text_mu_) = false;  // no more text will come
  JobState job_ MILLRACE_GUARDED_BY(text_mu_) = JobState::kNone;
  std::optional<absl::Status> job_end_
      MILLRACE_GUARDED_BY(text_mu_);                    // end of a job that is being queued
  absl::Status failure_ MILLRACE_GUARDED_BY(text_mu_);  // ends the stream once there is no job
  bool over_ MILLRACE_GUARDED_BY(text_mu_) = false;     // the stream was ended
};

}  // namespace millrace::server
