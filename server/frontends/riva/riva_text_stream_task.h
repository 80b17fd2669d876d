#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "riva/tts.pb.h"
#include "server/frontends/grpc/reply_stream.h"
#include "server/frontends/riva/custom_dictionary.h"
#include "server/frontends/riva/opus_packets.h"
#include "server/requests/services.h"
#include "server/requests/text_stream.h"
#include "server/rpc/byte_buffer.h"

namespace millrace::server {

// The messages of RivaSpeechSynthesis.SynthesizeOnline, for TextStreamCall. Clients cut a text at
// its white space and drop that, so the texts of two messages are joined by a space.
class RivaSynthesizeOnlineTask {
 public:
  static constexpr Method kMethod = Method::kRivaSynthesizeOnline;

  absl::Status Take(const ByteBuffer& buffer, const Services& services, TextStream& text);
  absl::Status EmptyStream(const TextStream& text) const;
  void SendAudio(std::string_view bytes, models::SynthesizeOutput piece, const TextStream& text,
                 ReplyStream& stream);
  void SendRest(std::string_view bytes, const TextStream& text, ReplyStream& stream);
  absl::Status End(const absl::Status& status) const;

 private:
  absl::Status Configure(const std::string& first_text, const Services& services, TextStream& text);
  void Send(std::string_view bytes, nvidia::riva::tts::SynthesizeSpeechResponse message,
            ReplyStream& stream);

  nvidia::riva::tts::SynthesizeSpeechRequest settings_;  // the first message's, without text
  std::optional<nvidia::riva::RequestId> id_;            // the first message's
  CustomDictionary dictionary_;
  std::optional<OpusPackets> opus_;  // set for a call with that encoding
  bool has_text_ = false;
  bool needs_space_ = false;  // before the text of the next message
};

}  // namespace millrace::server
