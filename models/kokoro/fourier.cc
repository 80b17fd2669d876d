#include "models/kokoro/fourier.h"

#include <ATen/ops/empty.h>

#include <cmath>
#include <numbers>

namespace millrace::kokoro {
namespace {

double Window(int64_t n, int64_t size) {
  return 0.5 -
         0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(size));
}

// Makes a windowed basis: scale(k) times the cosine and `sign` times the sine of bin k at sample n.
template <typename Scale>
FourierBasis MakeBasis(int64_t size, double sign, const Scale& scale) {
  const int64_t bins = size / 2 + 1;
  FourierBasis basis{at::empty({bins, 1, size}), at::empty({bins, 1, size})};
  auto cosines = basis.cosines.accessor<float, 3>();
  auto sines = basis.sines.accessor<float, 3>();
  for (int64_t k = 0; k < bins; ++k) {
    for (int64_t n = 0; n < size; ++n) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(k * n % size) / static_cast<double>(size);
      const double factor = scale(k) * Window(n, size);
      // The first and the last bin are real; a rounded sine would make their phase +-pi by chance.
      const bool real = k == 0 || 2 * k == size;
      cosines[k][0][n] = static_cast<float>(factor * std::cos(angle));
      sines[k][0][n] = real ? 0.0F : static_cast<float>(sign * factor * std::sin(angle));
    }
  }
  return basis;
}

}  // namespace

FourierBasis MakeAnalysis(int64_t size) {
  return MakeBasis(size, -1.0, [](int64_t) { return 1.0; });
}

FourierBasis MakeSynthesis(int64_t size) {
  // A bin in the middle also represents its mirror image.
  return MakeBasis(size, -1.0, [size](int64_t k) {
    return (k == 0 || 2 * k == size ? 1.0 : 2.0) / static_cast<double>(size);
  });
}

at::Tensor MakeWindowPower(int64_t size) {
  const at::Tensor power = at::empty({1, 1, size});
  for (int64_t n = 0; n < size; ++n) {
    const double window = Window(n, size);
    power.mutable_data_ptr<float>()[n] = static_cast<float>(window * window);
  }
  return power;
}

}  // namespace millrace::kokoro
