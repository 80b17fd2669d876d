#include "server/frontends/http/speech_answer.h"

#include <utility>

#include "absl/cleanup/cleanup.h"
#include "httplib.h"
#include "server/frontends/http/response_headers.h"
#include "server/http/http_server.h"

namespace millrace::server {
namespace {

// Returning false closes the connection at this point.
bool Write(SpeechReply& reply, const SpeechAnswer& answer, const SpeechReply::Piece& piece,
           httplib::DataSink& sink) {
  if (!piece.bytes.empty()) {
    if (!sink.write(piece.bytes.data(), piece.bytes.size())) return false;
  } else if (!piece.end) {
    return !HttpClientGone();
  }
  if (!piece.end) return true;
  if (piece.end->ok()) {
    sink.done();
    reply.Delivered();
    return true;
  }
  if (answer.error_bytes == nullptr) return false;
  const std::string error = answer.error_bytes(*piece.end);
  if (!sink.write(error.data(), error.size())) return false;
  sink.done();
  return true;
}

}  // namespace

void AnswerWithSpeech(const std::shared_ptr<SpeechReply>& reply,
                      const std::shared_ptr<Ticket>& place, SpeechAnswer answer,
                      httplib::Response& response) {
  // If memory runs out before the answer owns the reply, nothing else would end the work.
  absl::Cleanup abandon = [&reply] { reply->Abandon(); };
  SpeechReply::Piece first;
  while (first.bytes.empty() && !first.end) {
    if (HttpClientGone())
      return answer.send_error(response, absl::CancelledError("the caller went away"));
    first = reply->Take(kClientCheckInterval);
  }
  SetRateLimitHeaders(reply->run(), response);
  if (first.end && !first.end->ok()) {
    std::move(abandon).Cancel();
    return answer.send_error(response, *first.end);
  }
  if (!answer.may_be_cached) response.set_header("Cache-Control", "no-cache");
  const char* const content_type = answer.content_type;
  response.set_chunked_content_provider(
      content_type,
      [reply, answer = std::move(answer), first = std::move(first)](
          size_t, httplib::DataSink& sink) mutable {
        SpeechReply::Piece piece = std::exchange(first, {});
        if (piece.bytes.empty() && !piece.end) piece = reply->Take(kClientCheckInterval);
        return Write(*reply, answer, piece, sink);
      },
      [reply, place](bool) { reply->Abandon(); });
  std::move(abandon).Cancel();
}

}  // namespace millrace::server
