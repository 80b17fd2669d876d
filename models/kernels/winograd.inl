// Convolutions by minimal filtering: F(m, r) computes m outputs of r taps by m + r - 1 products of
// transformed inputs and weights instead of m * r. The transforms are those of Toom and Cook for
// given points, as in Winograd, "Arithmetic Complexity of Computations" (1980), and in Lavin and
// Gray, "Fast Algorithms for Convolutional Neural Networks" (CVPR 2016). Included by
// conv_kernels.inl.
//
// A tile is m output rows of one remainder by the dilation d, so m * d rows are d tiles that lie
// between each other.

namespace millrace::kernels {
namespace {

// F(kWinogradOutputs, kTaps). The finite points are the positive ones with both signs, and 0 if
// their number is odd; infinity is the last point.
template <int kTaps_, const auto& kPositive>
struct Filtering {
  static constexpr int kTaps = kTaps_;
  static constexpr int kOutputs = kWinogradOutputs;
  static constexpr int kPoints = kOutputs + kTaps - 1;
  static constexpr int kFinite = kPoints - 1;
  static constexpr int kPairs = sizeof(kPositive) / sizeof(double);
  static_assert(kFinite == 2 * kPairs || kFinite == 2 * kPairs + 1);

  struct Matrices {
    double points[kFinite] = {};             // pairs (p, -p), then 0
    double inputs[kPoints][kPoints] = {};    // a row for each point
    double weights[kPoints][kTaps] = {};     // a row for each point
    double outputs[kOutputs][kPoints] = {};  // a row for each output
  };

  static constexpr Matrices Make() {
    Matrices m;
    int at = 0;
    for (const double p : kPositive) {
      m.points[at++] = p;
      m.points[at++] = -p;
    }
    for (int i = 0; i < kFinite; ++i) {
      // The product of (x - q) for the other points q, and its value at this point.
      double product[kPoints] = {1};
      double value = 1;
      for (int j = 0, degree = 0; j < kFinite; ++j) {
        if (j == i) continue;
        Multiply(product, ++degree, m.points[j]);
        value *= m.points[i] - m.points[j];
      }
      double power = 1;
      for (int k = 0; k < kPoints; ++k, power *= m.points[i]) {
        m.inputs[i][k] = product[k];
        if (k < kTaps) m.weights[i][k] = power / value;
        if (k < kOutputs) m.outputs[k][i] = power;
      }
    }
    m.inputs[kFinite][0] = 1;
    for (int j = 0; j < kFinite; ++j) Multiply(m.inputs[kFinite], j + 1, m.points[j]);
    m.weights[kFinite][kTaps - 1] = 1;
    m.outputs[kOutputs - 1][kFinite] = 1;
    return m;
  }

  // Multiplies a polynomial, whose degree becomes `degree`, by (x - root).
  static constexpr void Multiply(double* polynomial, int degree, double root) {
    for (int k = degree; k >= 0; --k)
      polynomial[k] = (k > 0 ? polynomial[k - 1] : 0) - root * polynomial[k];
  }

  static constexpr Matrices kMatrices = Make();
};

// The points are chosen for small errors: about 3 times those of direct convolution for 3
// taps, 10 times for 5 and 7, 40 times for 11.
constexpr double kPoints3[] = {0.5, 1, 2};
constexpr double kPoints5[] = {0.5, 1, 1.5, 2};
constexpr double kPoints7[] = {1.0 / 3, 2.0 / 3, 1, 1.5, 3};
constexpr double kPoints11[] = {0.28, 0.54, 0.78, 1, 1.28, 1.85, 3.6};
using Filtering3 = Filtering<3, kPoints3>;
using Filtering5 = Filtering<5, kPoints5>;
using Filtering7 = Filtering<7, kPoints7>;
using Filtering11 = Filtering<11, kPoints11>;

// Adds the products of the inputs with every second number of a point's row, from kBegin on.
template <typename F, int kPoint, int kBegin, typename V>
inline __attribute__((always_inline)) V EverySecond(const V (&x)[F::kPoints]) {
  V sum = {};
  bool first = true;
#pragma GCC unroll 16
  for (int k = kBegin; k < F::kPoints; k += 2) {
    const auto factor = static_cast<float>(F::kMatrices.inputs[kPoint][k]);
    if (factor == 0.0F) continue;
    sum = first ? factor * x[k] : sum + factor * x[k];
    first = false;
  }
  return sum;
}

// The rows of p and -p differ in the signs of their odd (or even) columns, so they share sums.
template <typename F, int kPoint, typename V>
inline __attribute__((always_inline)) void TransformInputs(const V (&x)[F::kPoints],
                                                           V (&y)[F::kPoints]) {
  if constexpr (kPoint < F::kPoints) {
    const V even = EverySecond<F, kPoint, 0>(x);
    const V odd = EverySecond<F, kPoint, 1>(x);
    y[kPoint] = even + odd;
    if constexpr (kPoint + 1 < 2 * F::kPairs) {
      // The product without (x - p) is, at -x, that without (x + p), but for a sign.
      y[kPoint + 1] = F::kFinite % 2 == 0 ? odd - even : even - odd;
      TransformInputs<F, kPoint + 2>(x, y);
    } else {
      TransformInputs<F, kPoint + 1>(x, y);
    }
  }
}

template <typename F>
inline __attribute__((always_inline)) void TransformOutputs(const Vec (&sums)[F::kPoints],
                                                            Vec (&y)[F::kOutputs]) {
  Vec even[F::kPairs];
  Vec odd[F::kPairs];
#pragma GCC unroll 16
  for (int i = 0; i < F::kPairs; ++i) {
    even[i] = sums[2 * i] + sums[2 * i + 1];
    odd[i] = sums[2 * i] - sums[2 * i + 1];
  }
#pragma GCC unroll 16
  for (int k = 0; k < F::kOutputs; ++k) {
    const Vec* const halves = k % 2 == 0 ? even : odd;
    y[k] = static_cast<float>(F::kMatrices.outputs[k][0]) * halves[0];
#pragma GCC unroll 16
    for (int i = 1; i < F::kPairs; ++i)
      y[k] += static_cast<float>(F::kMatrices.outputs[k][2 * i]) * halves[i];
  }
  if constexpr (F::kFinite % 2 != 0) y[0] += sums[F::kFinite - 1];
  y[F::kOutputs - 1] += sums[F::kFinite];
}

// The rows of a pass, as tiles.
template <typename F>
struct Pass {
  int64_t begin;  // the first row
  int64_t tiles;
  int64_t dilation;

  int64_t Row(int64_t tile) const {
    return begin + tile / dilation * F::kOutputs * dilation + tile % dilation;
  }
};

// Transforms inputs to [point][tile][in channel].
template <typename F>
void TransformInputRows(const ConvTask& task, const Pass<F>& pass, float* to) {
  const int64_t plane = pass.tiles * task.in_channels;
  const int64_t end = task.rows + (task.taps - 1) * task.dilation;
  for (int64_t tile = 0; tile < pass.tiles; ++tile, to += task.in_channels) {
    const float* from[F::kPoints];
    // Inputs beyond the last belong to outputs beyond the last.
    for (int i = 0; i < F::kPoints; ++i) {
      const int64_t row = pass.Row(tile) + i * task.dilation;
      from[i] = task.input + (row < end ? row : end - 1) * task.input_pitch;
    }
    int64_t c = 0;
    for (; c + kLanes <= task.in_channels; c += kLanes) {
      Vec x[F::kPoints];
      Vec y[F::kPoints];
#pragma GCC unroll 16
      for (int i = 0; i < F::kPoints; ++i) x[i] = Load(from[i] + c);
      TransformInputs<F, 0>(x, y);
#pragma GCC unroll 16
      for (int i = 0; i < F::kPoints; ++i) Store(to + i * plane + c, y[i]);
    }
    for (; c < task.in_channels; ++c) {
      float x[F::kPoints];
      float y[F::kPoints];
      for (int i = 0; i < F::kPoints; ++i) x[i] = from[i][c];
      TransformInputs<F, 0>(x, y);
      for (int i = 0; i < F::kPoints; ++i) to[i * plane + c] = y[i];
    }
  }
}

// Transforms the sums of a block, [point][tile][kChannelBlock], to outputs and finishes them.
template <typename F>
void FinishTiles(const ConvTask& shared, const Pass<F>& pass, int64_t block, const float* sums) {
  const ConvTask task = shared;
  const int64_t plane = pass.tiles * kChannelBlock;
  for (int64_t tile = 0; tile < pass.tiles; ++tile, sums += kChannelBlock) {
    Vec values[F::kOutputs][kVectors];
    for (int j = 0; j < kVectors; ++j) {
      Vec of_points[F::kPoints];
      Vec of_outputs[F::kOutputs];
#pragma GCC unroll 16
      for (int i = 0; i < F::kPoints; ++i) of_points[i] = Load(sums + i * plane + j * kLanes);
      TransformOutputs<F>(of_points, of_outputs);
#pragma GCC unroll 16
      for (int i = 0; i < F::kOutputs; ++i) values[i][j] = of_outputs[i];
    }
    const int64_t row = pass.Row(tile);
    for (int i = 0; i < F::kOutputs && row + i * task.dilation < task.rows; ++i)
      Finish(task, row + i * task.dilation, block, values[i]);
  }
}

thread_local ThreadMemory winograd_memory;

template <typename F>
struct Winograd {
  // Returns the floats of transformed inputs and of sums that are in use together. They fit into
  // the L2 cache; where there are many weights, which each pass reads, they fill most of it.
  static int64_t PassFloats(int64_t channels) { return 64 * 1024 + 512 * channels; }
  // The least tiles of a pass.
  static constexpr int64_t kLeastTiles = 24;

  static int64_t PackedSize(const ConvTask& task) {
    return task.blocks * F::kPoints * task.in_channels * kChannelBlock;
  }

  // [block][point][panel][in channel][kPanel].
  static void Pack(const ConvTask& task, float* packed) {
    const int64_t tap_pitch = task.in_channels * kChannelBlock;
    for (int64_t block = 0; block < task.blocks; ++block) {
      const float* const of_block = task.weights + block * task.taps * tap_pitch;
      for (int point = 0; point < F::kPoints; ++point) {
        for (int64_t panel = 0; panel < kChannelBlock; panel += kPanel) {
          for (int64_t at = panel; at < tap_pitch; at += kChannelBlock) {
            double sums[kPanel] = {};
            for (int tap = 0; tap < F::kTaps; ++tap) {
              const float* const from = of_block + tap * tap_pitch + at;
              for (int64_t o = 0; o < kPanel; ++o)
                sums[o] += F::kMatrices.weights[point][tap] * static_cast<double>(from[o]);
            }
            for (const double sum : sums) *packed++ = static_cast<float>(sum);
          }
        }
      }
    }
  }

  static int64_t TilesOfPass(const ConvTask& task) {
    const int64_t fitting =
        PassFloats(task.in_channels) / (F::kPoints * (task.in_channels + kChannelBlock));
    const int64_t tiles = fitting < kLeastTiles ? kLeastTiles : fitting;
    return (tiles + task.dilation - 1) / task.dilation * task.dilation;
  }

  static void RunPass(const ConvTask& task, const Pass<F>& pass, float* inputs, float* sums) {
    TransformInputRows(task, pass, inputs);
    const Tiles rows(pass.tiles);
    ConvTask product = task;  // the product of one point
    product.taps = 1;
    product.input_pitch = task.in_channels;
    const float* weights = task.weights;
    for (int64_t block = 0; block < task.blocks; ++block) {
      for (int64_t point = 0; point < F::kPoints; ++point) {
        product.input = inputs + point * pass.tiles * task.in_channels;
        for (int64_t panel = 0; panel < kChannelBlock; panel += kPanel) {
          SumPanel(product, rows, 0, rows.count, weights,
                   sums + point * pass.tiles * kChannelBlock + panel);
          weights += task.in_channels * kPanel;
        }
      }
      FinishTiles(task, pass, block, sums);
    }
  }

  static void Convolve(const ConvTask& task) {
    const int64_t most = TilesOfPass(task);
    const int64_t of_inputs = F::kPoints * most * task.in_channels;
    float* const inputs = winograd_memory.Take(of_inputs + F::kPoints * most * kChannelBlock);
    const int64_t tile_rows = F::kOutputs * task.dilation;
    // Passes have about equal lengths.
    const int64_t all = (task.rows + tile_rows - 1) / tile_rows;
    const int64_t passes = (all * task.dilation + most - 1) / most;
    const int64_t step = (all + passes - 1) / passes * tile_rows;
    for (int64_t begin = 0; begin < task.rows; begin += step) {
      const int64_t rows = task.rows - begin < step ? task.rows - begin : step;
      const int64_t rest = rows % tile_rows;
      const int64_t last_tiles = rest < task.dilation ? rest : task.dilation;
      RunPass(task, {begin, rows / tile_rows * task.dilation + last_tiles, task.dilation}, inputs,
              inputs + of_inputs);
    }
  }
};

// Calls call(Winograd<...>()) for a task that HasWinogradForm().
template <typename Call>
auto WithWinograd(const ConvTask& task, const Call& call) {
  if (task.taps == 3) return call(Winograd<Filtering3>());
  if (task.taps == 5) return call(Winograd<Filtering5>());
  if (task.taps == 7) return call(Winograd<Filtering7>());
  return call(Winograd<Filtering11>());
}

}  // namespace
}  // namespace millrace::kernels
