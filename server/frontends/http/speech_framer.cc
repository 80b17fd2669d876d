#include "server/frontends/http/speech_framer.h"

namespace millrace::server {

const char* ContentTypeOf(models::AudioFormat format) {
  switch (format) {
    case models::AudioFormat::kMp3:
      return "audio/mpeg";
    case models::AudioFormat::kOggOpus:
      return "audio/ogg";
    case models::AudioFormat::kFlac:
      return "audio/flac";
    case models::AudioFormat::kWav:
      return "audio/wav";
    case models::AudioFormat::kPcmS16:
    case models::AudioFormat::kPcmF32:
    case models::AudioFormat::kMuLaw:  // clients cannot ask for these two here
    case models::AudioFormat::kALaw:
      break;
  }
  return "audio/pcm";
}

}  // namespace millrace::server
