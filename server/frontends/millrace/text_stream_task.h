#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "millrace/v1/synthesis.pb.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/millrace/speech_messages.h"
#include "server/requests/services.h"
#include "server/requests/text_stream.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// The messages of millrace.v1.SynthesisService.SynthesizeTextStream, for TextStreamCall.
class SynthesizeTextStreamTask {
 public:
  static constexpr Method kMethod = Method::kSynthesizeTextStream;

  absl::Status Take(const ByteBuffer& buffer, const Services& services, TextStream& text);
  absl::Status EmptyStream(const TextStream& text) const;
  void SendAudio(std::string_view bytes, models::SynthesizeOutput piece, const TextStream& text,
                 ReplyStream& stream);
  void SendRest(std::string_view bytes, const TextStream& text, ReplyStream& stream);
  absl::Status End(const absl::Status& status) const { return status; }

 private:
  absl::Status TakeConfig(v1::SynthesizeRequest config, TextStream& text);
};

}  // namespace millrace::server
