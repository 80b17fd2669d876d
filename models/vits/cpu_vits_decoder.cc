#include "models/vits/cpu_vits_decoder.h"

#include <algorithm>
#include <utility>

namespace millrace::vits {
namespace {

// Returns the place of each latent channel in a row of two padded halves.
std::vector<int64_t> LatentPlaces(int64_t latent, int64_t half_width) {
  std::vector<int64_t> places;
  const int64_t half = latent / 2;
  for (int64_t c = 0; c < latent; ++c) places.push_back(c < half ? c : half_width + c - half);
  return places;
}

}  // namespace

CpuVitsDecoder::CpuVitsDecoder(VitsWeights& weights, int64_t latent, kernels::Precision precision)
    : CpuVitsDecoder(weights, latent, weights.TakeIfAny("emb_g.weight", {-1, -1}), precision) {}

CpuVitsDecoder::CpuVitsDecoder(VitsWeights& weights, int64_t latent, const at::Tensor& speakers,
                               kernels::Precision precision)
    : flow_(weights, latent, speakers, precision),
      generator_(weights, LatentPlaces(latent, flow_.half_width()), 2 * flow_.half_width(),
                 speakers, precision) {}

class CpuVitsDecoder::Sentence final : public Decoding {
 public:
  Sentence(const CpuVitsDecoder& decoder, const Input& input)
      : decoder_(decoder), frames_(input.TotalFrames()), speaker_(input.speaker) {
    const int64_t half_width = decoder_.flow_.half_width();
    rows_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(frames_ * width()));
    input.DrawLatents(half_width, width(), rows_.data());
  }

  std::optional<std::vector<float>> Generate(int64_t begin, int64_t count,
                                             const std::function<bool()>& should_stop,
                                             runtime::WorkerContext&) override {
    const int64_t end = begin + std::min(count, frames_ - begin);
    const Generator& generator = decoder_.generator_;
    Flow(std::min(generator.InputEnd(end), frames_));
    std::vector<float> samples(static_cast<size_t>((end - begin) * generator.hop()));
    std::unique_ptr<Generator::Scratch> scratch = decoder_.TakeScratch();
    const bool finished = generator.Run({rows_.data(), frames_, speaker_}, begin, end, *scratch,
                                        samples.data(), should_stop);
    decoder_.ReturnScratch(std::move(scratch));
    if (!finished) return std::nullopt;
    return samples;
  }

 private:
  int64_t width() const { return 2 * decoder_.flow_.half_width(); }

  // Runs the flow at least over the frames before `end`: first over these alone, because a listener
  // waits for them, then over all the others.
  void Flow(int64_t end) {
    if (end <= flowed_) return;
    const vits::Flow& flow = decoder_.flow_;
    const int64_t reach = flow.reach();
    const int64_t step = flow.cut_step();
    const bool some = flowed_ == 0 && end + step + 2 * reach < frames_;
    const int64_t until = some ? (end + step - 1) / step * step : frames_;
    // A cut changes only frames within the flow's reach.
    const int64_t first = std::max<int64_t>(flowed_ - reach, 0);
    const int64_t last = std::min(until + reach, frames_);
    auto window =
        kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>((last - first) * width()));
    std::copy_n(before_.data(), (flowed_ - first) * width(), window.data());
    std::copy(rows_.data() + flowed_ * width(), rows_.data() + last * width(),
              window.data() + (flowed_ - first) * width());
    const int64_t kept = some ? std::min(reach, until) : 0;
    before_ = kernels::AlignedBuffer<float>::Zeros(static_cast<size_t>(kept * width()));
    std::copy_n(rows_.data() + (until - kept) * width(), kept * width(), before_.data());
    flow.Run({window.data(), last - first, flowed_ - first, until - first}, speaker_);
    std::copy_n(window.data() + (flowed_ - first) * width(), (until - flowed_) * width(),
                rows_.data() + flowed_ * width());
    flowed_ = until;
  }

  const CpuVitsDecoder& decoder_;
  const int64_t frames_;
  const int64_t speaker_;
  // Latents: the flow has transformed the first `flowed_` frames.
  kernels::AlignedBuffer<float> rows_;
  int64_t flowed_ = 0;
  // The last of these frames as they were before the flow, as far as it reaches.
  kernels::AlignedBuffer<float> before_;
};

std::unique_ptr<VitsDecoder::Decoding> CpuVitsDecoder::Start(const Input& input) const {
  return std::make_unique<Sentence>(*this, input);
}

std::unique_ptr<Generator::Scratch> CpuVitsDecoder::TakeScratch() const {
  MutexLock lock(mu_);
  if (scratch_.empty()) return std::make_unique<Generator::Scratch>();
  std::unique_ptr<Generator::Scratch> scratch = std::move(scratch_.back());
  scratch_.pop_back();
  return scratch;
}

void CpuVitsDecoder::ReturnScratch(std::unique_ptr<Generator::Scratch> scratch) const {
  MutexLock lock(mu_);
  scratch_.push_back(std::move(scratch));
}

}  // namespace millrace::vits
