#include "server/frontends/http/speech_framer.h"

#include "models/core/lookup.h"

namespace millrace::server {

const char* ContentTypeOf(models::AudioFormat format) {
  using Format = models::AudioFormat;
  static constexpr std::pair<Format, const char*> kTypes[] = {{Format::kMp3, "audio/mpeg"},
                                                              {Format::kOggOpus, "audio/ogg"},
                                                              {Format::kFlac, "audio/flac"},
                                                              {Format::kWav, "audio/wav"}};
  return ValueOf(kTypes, format, "audio/pcm");
}

}  // namespace millrace::server
