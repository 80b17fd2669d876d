#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace millrace::kokoro {

// How far each sentence of a padded batch goes. Made of nothing, it says that every value counts.
// What goes into a convolution, and what is counted, is zero beyond the end, as the numbers beyond
// the end of an unpadded sentence are. A value, on the device of its counts.
struct KokoroExtent {
  at::Tensor mask;    // [batch, 1, time]: 1 up to the end, then 0
  at::Tensor counts;  // [batch, 1, 1]: values up to the end, of the mask's type
  // [batch, 1, 1]: the mean over all of the time, times this, is that over what counts; and how
  // much more than 1 that is.
  at::Tensor share, excess;

  // counts [batch, 1, 1], each >= 1.
  static KokoroExtent Of(const at::Tensor& counts, int64_t time);
  // Of a signal that has `factor` values for each of this, and `more` at the end.
  KokoroExtent Times(int64_t factor, int64_t more = 0) const;

  bool whole() const { return !mask.defined(); }
  // With zeros beyond the end; x [batch, channels, time].
  at::Tensor Cut(const at::Tensor& x) const;
};

}  // namespace millrace::kokoro
