#include "models/audio/resampler.h"

#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/audio/sample_value.h"
#include "models/core/errors.h"

namespace millrace::models {

void Resampler::Delete::operator()(soxr* handle) const { soxr_delete(handle); }

absl::StatusOr<Resampler> Resampler::Make(int input_rate, int output_rate) {
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t runtime = soxr_runtime_spec(1);
  soxr_error_t error = nullptr;
  soxr_t handle = soxr_create(input_rate, output_rate, 1, &error, &io, &quality, &runtime);
  if (handle == nullptr || error != nullptr) {
    soxr_delete(handle);
    return Internal("soxr cannot resample from ", input_rate, " to ", output_rate,
                    " hertz: ", error != nullptr ? error : "no memory");
  }
  return Resampler(std::unique_ptr<soxr, Delete>(handle),
                   static_cast<double>(output_rate) / input_rate);
}

std::vector<float> Resampler::Push(std::span<const float> samples) {
  std::vector<float> clean(samples.size());
  std::transform(samples.begin(), samples.end(), clean.begin(), Clip);
  std::vector<float> out;
  size_t taken = 0;
  size_t given = 0;
  // soxr may return samples that it held back: continue until all input is taken and nothing more
  // is returned.
  do {
    const size_t end = out.size();
    out.resize(end +
               static_cast<size_t>(std::ceil(static_cast<double>(clean.size() - taken) * ratio_)) +
               256);
    size_t used = 0;
    soxr_process(handle_.get(), clean.data() + taken, clean.size() - taken, &used, out.data() + end,
                 out.size() - end, &given);
    taken += used;
    out.resize(end + given);
  } while (taken < clean.size());
  return out;
}

std::vector<float> Resampler::Flush() {
  std::vector<float> out;
  for (size_t given = 1; given > 0;) {
    const size_t end = out.size();
    out.resize(end + 4096);
    soxr_process(handle_.get(), nullptr, 0, nullptr, out.data() + end, out.size() - end, &given);
    out.resize(end + given);
  }
  return out;
}

}  // namespace millrace::models
