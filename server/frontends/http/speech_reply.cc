#include "server/frontends/http/speech_reply.h"

#include <utility>
#include <variant>

#include "models/core/errors.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxPiece = 64 << 10;

}  // namespace

void SpeechReply::Start(absl::StatusOr<SpeechWork> work, std::unique_ptr<SpeechFramer> framer) {
  framer_ = std::move(framer);
  HoldThis();
  if (work.ok()) audio_.Start(work->encoding);
  const bool streamed = framer_ == nullptr || !framer_->whole();
  const std::optional<absl::Status> end =
      work.ok() ? run_.Begin(std::move(work->work), run_.Limit(streamed)) : work.status();
  if (end) Finish(*end);
}

SpeechReply::~SpeechReply() {
  run_.Record(buffer_.Outcome(), [this] { return requester_; });
}

void SpeechReply::Emit(models::Output output) {
  auto& piece = std::get<models::SynthesizeOutput>(output);
  if (too_long_) return;
  const std::string audio = audio_.Push(piece, run_);
  Append(framer_ != nullptr ? framer_->Push(piece, audio) : audio);
  // An answer that is sent as a whole is kept in memory until it is complete.
  if (framer_ != nullptr && framer_->whole() && audio_.plain_bytes() > kMaxWholeAudioBytes) {
    too_long_ = true;
    Cancel();
  }
}

void SpeechReply::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxPiece);
    buffer_.Push(std::string(piece), piece.size());
    bytes.remove_prefix(piece.size());
  }
}

void SpeechReply::Finish(const absl::Status& result) {
  const absl::Status status = OrInternal([&]() -> absl::Status {
    if (too_long_) {
      return InvalidArgument("text: its speech is longer than one object may hold, ",
                             kMaxWholeAudioBytes >> 20, " MiB; ask for a stream of them");
    }
    if (!result.ok()) return result;
    const absl::StatusOr<std::string> rest = audio_.Flush();
    if (rest.ok()) Append(framer_ != nullptr ? framer_->Close(*rest, audio_.seconds()) : *rest);
    return rest.status();
  });
  const std::shared_ptr<SpeechReply> self = ReleaseThis();
  buffer_.End(status);
}

SpeechReply::Piece SpeechReply::Take(std::chrono::milliseconds patience) {
  buffer_.WaitUntil(std::chrono::steady_clock::now() + patience);
  return {.bytes = buffer_.Pop().value_or(std::string()), .end = buffer_.end()};
}

void SpeechReply::Abandon() {
  if (buffer_.over()) return;
  run_.Cancel();
  buffer_.Stop();
}

}  // namespace millrace::server
