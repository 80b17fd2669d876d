#include "models/kokoro/kokoro_extent.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/reciprocal.h>

namespace millrace::kokoro {

KokoroExtent KokoroExtent::Of(const at::Tensor& counts, int64_t time) {
  KokoroExtent extent;
  extent.counts = counts;
  extent.mask = (at::arange(time, counts.options()) < counts).to(counts.scalar_type());
  extent.share = at::reciprocal(counts) * static_cast<double>(time);
  extent.excess = extent.share - 1;
  return extent;
}

KokoroExtent KokoroExtent::Times(int64_t factor, int64_t more) const {
  return Of(counts * factor + more, mask.size(2) * factor + more);
}

at::Tensor KokoroExtent::Cut(const at::Tensor& x) const { return whole() ? x : x * mask; }

}  // namespace millrace::kokoro
