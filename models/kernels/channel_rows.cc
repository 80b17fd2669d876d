#include "models/kernels/channel_rows.h"

#include <algorithm>
#include <cstring>

#include "models/kernels/parallel_for.h"

namespace millrace::kernels {
namespace {

constexpr int64_t kRows = 16;  // their cache lines stay in the cache
// The values of a part: some tens of microseconds.
constexpr int64_t kPartValues = int64_t{64} * 1024;

constexpr int64_t kSquare = 4;
typedef float Quad __attribute__((vector_size(kSquare * sizeof(float))));

Quad LoadQuad(const float* from) {
  Quad quad;
  std::memcpy(&quad, from, sizeof(quad));
  return quad;
}

void StoreQuad(float* to, Quad quad) { std::memcpy(to, &quad, sizeof(quad)); }

// Calls visit(i, quad) for the rows i of the transposed square of four lines of four floats, which
// lie `stride` apart.
template <typename Visit>
inline void VisitTransposed(const float* from, int64_t stride, const Visit& visit) {
  const Quad first = LoadQuad(from);
  const Quad second = LoadQuad(from + stride);
  const Quad third = LoadQuad(from + 2 * stride);
  const Quad fourth = LoadQuad(from + 3 * stride);
  const Quad a = __builtin_shufflevector(first, second, 0, 4, 1, 5);
  const Quad b = __builtin_shufflevector(third, fourth, 0, 4, 1, 5);
  const Quad c = __builtin_shufflevector(first, second, 2, 6, 3, 7);
  const Quad d = __builtin_shufflevector(third, fourth, 2, 6, 3, 7);
  visit(0, __builtin_shufflevector(a, b, 0, 1, 4, 5));
  visit(1, __builtin_shufflevector(a, b, 2, 3, 6, 7));
  visit(2, __builtin_shufflevector(c, d, 0, 1, 4, 5));
  visit(3, __builtin_shufflevector(c, d, 2, 3, 6, 7));
}

// Calls of_square(place in [channels][time], place in the rows) for squares of kSquare channels and
// times, and of_value(the same) for each value that is left.
template <typename OfSquare, typename OfValue>
void ForEachSquare(const ChannelShape& shape, int64_t width, const OfSquare& of_square,
                   const OfValue& of_value) {
  const int64_t step = std::max(kPartValues / shape.channels / kRows, int64_t{1}) * kRows;
  ParallelFor((shape.time + step - 1) / step, [=](int64_t part) {
    const int64_t last = std::min((part + 1) * step, shape.time);
    for (int64_t begin = part * step; begin < last; begin += kRows) {
      const int64_t end = std::min(begin + kRows, last);
      const int64_t in_squares = begin + (end - begin) / kSquare * kSquare;
      int64_t c = 0;
      for (; c + kSquare <= shape.channels; c += kSquare) {
        for (int64_t t = begin; t < in_squares; t += kSquare)
          of_square(c * shape.time + t, t * width + c);
        for (int64_t t = in_squares; t < end; ++t) {
          for (int64_t i = c; i < c + kSquare; ++i) of_value(i * shape.time + t, t * width + i);
        }
      }
      for (; c < shape.channels; ++c) {
        for (int64_t t = begin; t < end; ++t) of_value(c * shape.time + t, t * width + c);
      }
    }
  });
}

}  // namespace

void ToRows(const float* from, const ChannelShape& shape, int64_t width, float* rows) {
  ForEachSquare(
      shape, width,
      [=, time = shape.time](int64_t at, int64_t in_rows) {
        VisitTransposed(from + at, time,
                        [=](int64_t i, Quad quad) { StoreQuad(rows + in_rows + i * width, quad); });
      },
      [=](int64_t at, int64_t in_rows) { rows[in_rows] = from[at]; });
}

void FromRows(const float* rows, const ChannelShape& shape, int64_t width, float* to) {
  ForEachSquare(
      shape, width,
      [=, time = shape.time](int64_t at, int64_t in_rows) {
        VisitTransposed(rows + in_rows, width,
                        [=](int64_t i, Quad quad) { StoreQuad(to + at + i * time, quad); });
      },
      [=](int64_t at, int64_t in_rows) { to[at] = rows[in_rows]; });
}

}  // namespace millrace::kernels
