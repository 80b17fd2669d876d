#include "models/audio/sndfile_encoder.h"

#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include "models/audio/sample_value.h"
#include "models/core/errors.h"

namespace millrace::models {
namespace {

// This quality suffices for speech: 0 is libsndfile's highest bit rate, 1 its lowest.
constexpr double kMp3Compression = 0.5;
constexpr double kOggPageMilliseconds = 200;
// LAME and a decoder add this many samples before the audio. A file states them, so that players
// skip them; a stream cannot, because its length is unknown.
constexpr size_t kMp3Delay = 1105;
constexpr float kSilence = 1.0F / 256;  // below it nobody hears what is dropped

// The file that libsndfile writes into. Bytes that were taken cannot change any more: at the end
// libsndfile seeks back to fill in lengths, which then stay open.
class Sink {
 public:
  std::string Take() {
    taken_ += static_cast<sf_count_t>(bytes_.size());
    return std::exchange(bytes_, {});
  }
  bool empty() const { return bytes_.empty(); }
  const std::string& bytes() const { return bytes_; }
  // Removes bytes from the beginning, as if they had never been written.
  void Drop(size_t count) {
    bytes_.erase(0, count);
    taken_ += static_cast<sf_count_t>(count);
  }

  SF_VIRTUAL_IO* io() {
    static SF_VIRTUAL_IO calls = {
        .get_filelen = [](void* self) { return static_cast<Sink*>(self)->size(); },
        .seek = [](sf_count_t offset, int whence,
                   void* self) { return static_cast<Sink*>(self)->Seek(offset, whence); },
        .read = [](void*, sf_count_t, void*) -> sf_count_t { return 0; },
        .write =
            [](const void* bytes, sf_count_t count, void* self) {
              return static_cast<Sink*>(self)->Write(static_cast<const char*>(bytes), count);
            },
        .tell = [](void* self) { return static_cast<Sink*>(self)->position_; }};
    return &calls;
  }

 private:
  sf_count_t size() const { return taken_ + static_cast<sf_count_t>(bytes_.size()); }

  sf_count_t Seek(sf_count_t offset, int whence) {
    if (whence == SEEK_CUR) offset += position_;
    if (whence == SEEK_END) offset += size();
    position_ = std::clamp<sf_count_t>(offset, 0, size());
    return position_;
  }

  sf_count_t Write(const char* bytes, sf_count_t count) {
    const sf_count_t lost = std::clamp<sf_count_t>(taken_ - position_, 0, count);
    const auto at = static_cast<size_t>(position_ + lost - taken_);
    const auto kept = static_cast<size_t>(count - lost);
    if (kept > 0) {
      if (at + kept > bytes_.size()) bytes_.resize(at + kept);
      std::copy_n(bytes + lost, kept, bytes_.begin() + static_cast<std::ptrdiff_t>(at));
    }
    position_ += count;
    return count;
  }

  std::string bytes_;     // from taken_ on
  sf_count_t taken_ = 0;  // how many bytes were taken
  sf_count_t position_ = 0;
};

// Returns true if the format's samples have at most 16 bits and are not transformed.
bool HoldsSamples(AudioFormat format) {
  return format == AudioFormat::kFlac || format == AudioFormat::kMuLaw ||
         format == AudioFormat::kALaw;
}

int LibraryFormat(AudioFormat format) {
  switch (format) {
    case AudioFormat::kMp3:
      return SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III;
    case AudioFormat::kOggOpus:
      return SF_FORMAT_OGG | SF_FORMAT_OPUS;
    case AudioFormat::kMuLaw:
      return SF_FORMAT_RAW | SF_FORMAT_ULAW;
    case AudioFormat::kALaw:
      return SF_FORMAT_RAW | SF_FORMAT_ALAW;
    default:
      return SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
  }
}

class SndfileEncoder final : public AudioEncoder {
 public:
  SndfileEncoder(AudioFormat format, AudioContainer container)
      : format_(format),
        container_(container),
        delay_left_(format == AudioFormat::kMp3 && container == AudioContainer::kStream ? kMp3Delay
                                                                                        : 0) {}
  ~SndfileEncoder() override {
    if (file_ != nullptr) sf_close(file_);
  }

  absl::Status Open(int sample_rate) {
    SF_INFO info = {};
    info.samplerate = sample_rate;
    info.channels = 1;
    info.format = LibraryFormat(format_);
    file_ = sf_open_virtual(sink_.io(), SFM_WRITE, &info, &sink_);
    if (file_ == nullptr) return Failed(sf_strerror(nullptr));
    if (format_ == AudioFormat::kMp3) {
      int mode = SF_BITRATE_MODE_CONSTANT;
      double compression = kMp3Compression;
      sf_command(file_, SFC_SET_BITRATE_MODE, &mode, sizeof(mode));
      sf_command(file_, SFC_SET_COMPRESSION_LEVEL, &compression, sizeof(compression));
    }
    if (format_ == AudioFormat::kOggOpus) {
      double page = kOggPageMilliseconds;
      sf_command(file_, SFC_SET_OGG_PAGE_LATENCY_MS, &page, sizeof(page));
    }
    return absl::OkStatus();
  }

  std::string Push(std::span<const float> samples) override {
    samples = samples.subspan(SilenceToLeaveOut(samples));
    if (!status_.ok() || samples.empty()) return {};
    const auto count = static_cast<sf_count_t>(samples.size());
    if (Write(samples) != count) {
      status_ = Failed(sf_strerror(file_));
      return {};
    }
    return container_ == AudioContainer::kStream ? Take() : std::string();
  }

  absl::StatusOr<std::string> Close() override {
    if (status_.ok() && sf_close(std::exchange(file_, nullptr)) != 0)
      status_ = Failed("the file cannot be ended");
    if (!status_.ok()) return status_;
    // Where nothing was sent yet, the first frame of an MP3 has its length by now and belongs to
    // it.
    past_info_frame_ = true;
    return sink_.Take();
  }

 private:
  absl::Status Failed(const char* why) const {
    return Internal("encoding ", ToString(format_), " failed: ", why);
  }

  // Returns how many samples of silence to drop at the beginning of an MP3 stream, because the
  // codec's delay replaces them: speech then begins at the same time as in a file.
  size_t SilenceToLeaveOut(std::span<const float> samples) {
    const auto looked_at = samples.first(std::min(delay_left_, samples.size()));
    const auto sound = std::ranges::find_if(
        looked_at, [](float sample) { return !(std::abs(sample) < kSilence); });
    const auto count = static_cast<size_t>(sound - looked_at.begin());
    delay_left_ = sound == looked_at.end() ? delay_left_ - count : 0;
    return count;
  }

  // Returns how many samples were written. They are rounded to 16 bits here, so that FLAC holds the
  // same values as PCM.
  sf_count_t Write(std::span<const float> samples) {
    const auto count = static_cast<sf_count_t>(samples.size());
    if (HoldsSamples(format_)) {
      std::vector<int16_t> rounded(samples.size());
      std::transform(samples.begin(), samples.end(), rounded.begin(), ToS16);
      return sf_write_short(file_, rounded.data(), count);
    }
    std::vector<float> clean(samples.size());
    std::transform(samples.begin(), samples.end(), clean.begin(), Clip);
    return sf_write_float(file_, clean.data(), count);
  }

  // Returns the bytes that may be sent. The first frame of an MP3 is reserved for its length until
  // the end; a stream never fills it, and players would turn it into 26 ms of silence.
  std::string Take() {
    if (format_ == AudioFormat::kMp3 && !past_info_frame_) {
      constexpr size_t kFrameHeader = 4;
      const std::string& bytes = sink_.bytes();
      const size_t end = bytes.size() < kFrameHeader ? std::string::npos
                                                     : bytes.find_first_not_of('\0', kFrameHeader);
      if (end == std::string::npos) return {};
      sink_.Drop(end);
      past_info_frame_ = true;
    }
    return sink_.Take();
  }

  const AudioFormat format_;
  const AudioContainer container_;
  Sink sink_;
  SNDFILE* file_ = nullptr;
  absl::Status status_;
  bool past_info_frame_ = false;
  size_t delay_left_;  // samples of silence that may still be dropped
};

}  // namespace

absl::StatusOr<std::unique_ptr<AudioEncoder>> MakeSndfileEncoder(AudioFormat format,
                                                                 AudioContainer container,
                                                                 int sample_rate) {
  auto encoder = std::make_unique<SndfileEncoder>(format, container);
  MILLRACE_RETURN_IF_ERROR(encoder->Open(sample_rate));
  return encoder;
}

}  // namespace millrace::models
