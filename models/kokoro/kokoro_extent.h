#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::kokoro {

// The extent of each sentence in a padded batch. A default-constructed extent says that every value
// counts. The inputs of convolutions and of sums are zero beyond it, as the values beyond the end
// of an unpadded sentence are. A value, on the device of its counts.
struct KokoroExtent {
  at::Tensor mask;    // [batch, 1, time]: 1 up to the end, then 0
  at::Tensor counts;  // [batch, 1, 1]: the number of values up to the end, of the mask's type
  // [batch, 1, 1]: `share` times the mean over all of the time is the mean over the values that
  // count; `excess` is share - 1.
  at::Tensor share, excess;

  // counts [batch, 1, 1], each >= 1.
  static KokoroExtent Of(const at::Tensor& counts, int64_t time);
  // Returns the extent of a signal with `factor` values for each of this one's, and `more` at the
  // end.
  KokoroExtent Times(int64_t factor, int64_t more = 0) const;

  bool whole() const { return !mask.defined(); }
  // Returns x [batch, channels, time] with zeros beyond the end.
  at::Tensor Cut(const at::Tensor& x) const;
};

}  // namespace millrace::kokoro
