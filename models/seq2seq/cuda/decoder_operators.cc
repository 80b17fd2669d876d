// The CUDA implementation of the operators of models/seq2seq/aten/fused_decoder.cc, in the CUDA
// module.

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <cuda.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>

#include "models/seq2seq/cuda/choice_kernels_source.h"
#include "models/seq2seq/cuda/decoder_kernels_source.h"
#include "models/seq2seq/cuda/product_kernels_source.h"
#include "mps_runtime/backend/cuda/cuda_kernels.h"

namespace millrace::seq2seq {
namespace {

using runtime::Parts;

// These are constants of the kernels, too.
constexpr int64_t kHeadSize = 64;
constexpr int64_t kFewRows = 8;
constexpr int64_t kTile = 16;
constexpr int64_t kProductWarps = 8;
constexpr int64_t kBatch = 128;
constexpr int64_t kRowGap = 32;
constexpr unsigned kChoiceThreads = 256;

constexpr int64_t kWarp = 32;
// A thread of a norm has eight values, and a block has whole warps and at most 1024 threads.
constexpr int64_t kNormStep = 8 * kWarp;
constexpr int64_t kMaxDim = 8 * 1024;
// So many blocks of a product with few rows run on a multiprocessor at a time.
constexpr int64_t kBlocksAtOnce = 2;
// A product of more columns than this occupies the device with a tile for each warp.
constexpr int64_t kManyColumns = 1 << 15;

// The shared memory of a product of few rows: partial sums, the rows, and what their norm needs.
int64_t SharedBytes(int64_t inputs, bool has_norm) {
  const int64_t partial_sums = kProductWarps * kWarp * 4 * static_cast<int64_t>(sizeof(float));
  return partial_sums + kFewRows * (inputs + kRowGap) * 2 + (has_norm ? 2 * inputs * 2 : 0);
}

class DecoderKernels : public runtime::CudaKernels {
 public:
  // Compiled at the first call.
  static const DecoderKernels& Get() {
    static const DecoderKernels& kernels = *new DecoderKernels;
    return kernels;
  }

  // Launches a kernel early if one of these was submitted before it, which is so for few rows. What
  // libtorch submits for more of them may end with another kind of work.
  template <typename... Arguments>
  void LaunchAfterKernel(int64_t rows, const Arguments&... arguments) const {
    if (rows <= kFewRows) {
      LaunchEarly(arguments...);
    } else {
      Launch(arguments...);
    }
  }

  CUfunction attend = Find("Attend");
  CUfunction embed = Find("Embed");
  CUfunction add_norm = Find("AddNorm");
  CUfunction multiply_few_rows = Find("MultiplyFewRows", max_shared_bytes());
  CUfunction find_best = Find("FindBest");
  CUfunction choose_token = Find("ChooseToken");

 private:
  DecoderKernels()
      : CudaKernels(
            (std::string(kDecoderKernelsSource) + kProductKernelsSource + kChoiceKernelsSource)
                .c_str(),
            "decoder_kernels.cu", /*capability=*/80) {}
};

// The arguments of the kernels, as they declare them.
struct Attention {
  const void* queries = nullptr;
  const void* own = nullptr;
  void* cache = nullptr;
  const void* slots = nullptr;
  const void* counts = nullptr;
  void* out = nullptr;
  int stride = 0, dim = 0, width = 0, more = 0;
};
struct LayerNorm {
  const void* scale = nullptr;
  const void* bias = nullptr;
  float epsilon = 0;
};
struct Embedding {
  const void* tokens = nullptr;
  const void* positions = nullptr;
  const void* embeddings = nullptr;
  const void* places = nullptr;
  float factor = 1;
  int more = 0, last = 0, dim = 0;
};
struct FewRowsProduct {
  const void* x = nullptr;
  LayerNorm norm;
  void* normed = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;
  const void* residual = nullptr;
  void* out = nullptr;
  int rows = 0, inputs = 0, columns = 0, activation = 0, warps = 1;
};

using MaybeTensor = std::optional<at::Tensor>;

int AsInt(int64_t value) { return static_cast<int>(value); }

const void* DataOrNull(const MaybeTensor& tensor) {
  return tensor ? tensor->const_data_ptr() : nullptr;
}

LayerNorm NormOf(const MaybeTensor& scale, const MaybeTensor& bias, double epsilon) {
  return {DataOrNull(scale), DataOrNull(bias), static_cast<float>(epsilon)};
}

std::string WhyNot(const at::Tensor& positions, int64_t heads, int64_t hidden) {
  const int64_t dim = positions.size(1);
  if (positions.scalar_type() != at::kHalf) return "the weights are not in half precision";
  if (dim != heads * kHeadSize)
    return "a head has " + std::to_string(dim / heads) + " values, they need 64";
  if (dim % kNormStep != 0 || dim > kMaxDim || hidden % kNormStep != 0)
    return "the layers have " + std::to_string(dim) + " and " + std::to_string(hidden) + " values";
  const DecoderKernels& kernels = DecoderKernels::Get();
  if (kernels.why_not().empty() &&
      std::max(SharedBytes(dim, true), SharedBytes(hidden, false)) > kernels.max_shared_bytes())
    return "the device has too little shared memory";
  return kernels.why_not();
}

std::tuple<at::Tensor, at::Tensor> Embed(const at::Tensor& tokens, const at::Tensor& positions,
                                         int64_t more, const at::Tensor& embeddings,
                                         const at::Tensor& places, double factor,
                                         const MaybeTensor& scale, const MaybeTensor& bias,
                                         double epsilon) {
  const int64_t rows = tokens.size(0), dim = places.size(1);
  const at::Tensor out = at::empty({rows, dim}, places.options());
  const at::Tensor normed = scale ? at::empty_like(out) : out;
  const Embedding embedding{.tokens = tokens.const_data_ptr(),
                            .positions = positions.const_data_ptr(),
                            .embeddings = embeddings.const_data_ptr(),
                            .places = places.const_data_ptr(),
                            .factor = static_cast<float>(factor),
                            .more = AsInt(more),
                            .last = AsInt(places.size(0) - 1),
                            .dim = AsInt(dim)};
  const DecoderKernels& kernels = DecoderKernels::Get();
  kernels.Launch(kernels.embed, dim3(Parts(rows, 1)), dim3(Parts(dim, 8)), 0, embedding,
                 NormOf(scale, bias, epsilon), out.mutable_data_ptr(), normed.mutable_data_ptr());
  return {out, normed};
}

std::tuple<at::Tensor, at::Tensor> AddNorm(const at::Tensor& x, const MaybeTensor& added,
                                           const MaybeTensor& added_bias, const at::Tensor& scale,
                                           const at::Tensor& bias, double epsilon, bool want_sum) {
  const at::Tensor normed = at::empty_like(x);
  const at::Tensor sum = want_sum ? at::empty_like(x) : normed;
  const DecoderKernels& kernels = DecoderKernels::Get();
  kernels.LaunchAfterKernel(
      x.size(0), kernels.add_norm, dim3(Parts(x.size(0), 1)), dim3(Parts(x.size(1), 8)), 0,
      x.const_data_ptr(), DataOrNull(added), DataOrNull(added_bias), NormOf(scale, bias, epsilon),
      want_sum ? sum.mutable_data_ptr() : nullptr, normed.mutable_data_ptr(), AsInt(x.size(1)));
  return {sum, normed};
}

at::Tensor Attend(const at::Tensor& inputs, bool own, const at::Tensor& cache,
                  const at::Tensor& slots, const at::Tensor& counts, int64_t more) {
  const int64_t rows = inputs.size(0), dim = cache.size(1) / 2, heads = dim / kHeadSize;
  const int64_t width = slots.numel() / rows;
  const at::Tensor out = at::empty({rows, dim}, inputs.options());
  const Attention attention{
      .queries = inputs.const_data_ptr(),
      .own = own ? static_cast<const at::Half*>(inputs.const_data_ptr()) + dim : nullptr,
      .cache = cache.mutable_data_ptr(),
      .slots = slots.const_data_ptr(),
      .counts = counts.const_data_ptr(),
      .out = out.mutable_data_ptr(),
      .stride = AsInt(inputs.size(1)),
      .dim = AsInt(dim),
      .width = AsInt(width),
      .more = AsInt(more)};
  const DecoderKernels& kernels = DecoderKernels::Get();
  // A warp reads 16 keys at a time. Many rows occupy the device with few warps each.
  const int64_t most = rows * heads >= 8 * kernels.multiprocessors() ? 2 : 8;
  const int64_t warps = std::clamp<int64_t>(width / 16, 1, most);
  kernels.LaunchAfterKernel(rows, kernels.attend, dim3(Parts(heads, 1), Parts(rows, 1)),
                            dim3(Parts(warps * kWarp, 1)), 0, attention);
  return out;
}

std::tuple<at::Tensor, at::Tensor> MultiplyFewRows(const at::Tensor& x, const MaybeTensor& scale,
                                                   const MaybeTensor& norm_bias, double epsilon,
                                                   bool want_normed, const at::Tensor& weight,
                                                   const MaybeTensor& bias, int64_t activation,
                                                   const MaybeTensor& residual) {
  const int64_t rows = x.size(0), inputs = x.size(1), columns = weight.size(0);
  const at::Tensor out =
      at::empty({rows, columns}, x.options().dtype(bias ? at::kHalf : at::kFloat));
  const at::Tensor normed = want_normed ? at::empty_like(x) : x;
  const int64_t tiles = columns / kTile;
  int64_t warps = 1;  // so many share a tile
  if (columns <= kManyColumns) {
    while (warps < kProductWarps && inputs / kBatch % (2 * warps) == 0) warps *= 2;
  }
  const DecoderKernels& kernels = DecoderKernels::Get();
  const int64_t covering = Parts(tiles * warps, kProductWarps);
  const int64_t blocks =
      warps > 1 ? covering : std::min(covering, kBlocksAtOnce * kernels.multiprocessors());
  const FewRowsProduct product{.x = x.const_data_ptr(),
                               .norm = NormOf(scale, norm_bias, epsilon),
                               .normed = want_normed ? normed.mutable_data_ptr() : nullptr,
                               .weights = weight.const_data_ptr(),
                               .bias = DataOrNull(bias),
                               .residual = DataOrNull(residual),
                               .out = out.mutable_data_ptr(),
                               .rows = AsInt(rows),
                               .inputs = AsInt(inputs),
                               .columns = AsInt(columns),
                               .activation = AsInt(activation),
                               .warps = AsInt(warps)};
  kernels.LaunchAfterKernel(rows, kernels.multiply_few_rows, dim3(Parts(blocks, 1)),
                            dim3(Parts(kProductWarps * kWarp, 1)),
                            SharedBytes(inputs, scale.has_value()), product);
  return {out, normed};
}

at::Tensor ChooseTokens(const at::Tensor& scores, const at::Tensor& bias, const at::Tensor& forced,
                        const at::Tensor& chosen) {
  const int64_t rows = scores.size(0), tokens = scores.size(1);
  // Few rows are read by many blocks.
  const int64_t parts = std::clamp<int64_t>(1024 / rows, 8, 64);
  const at::Tensor best_scores = at::empty({rows, parts}, scores.options());
  const at::Tensor best_tokens = at::empty({rows, parts}, scores.options().dtype(at::kInt));
  const at::Tensor next = at::empty_like(chosen);
  const DecoderKernels& kernels = DecoderKernels::Get();
  kernels.LaunchAfterKernel(rows, kernels.find_best, dim3(Parts(parts, 1), Parts(rows, 1)),
                            dim3(kChoiceThreads), 0, scores.const_data_ptr(), bias.const_data_ptr(),
                            forced.const_data_ptr(), best_scores.mutable_data_ptr(),
                            best_tokens.mutable_data_ptr(), AsInt(tokens));
  kernels.LaunchEarly(kernels.choose_token, dim3(Parts(rows, 1)), dim3(Parts(kWarp, 1)), 0,
                      best_scores.const_data_ptr(), best_tokens.const_data_ptr(),
                      forced.const_data_ptr(), chosen.mutable_data_ptr(), next.mutable_data_ptr(),
                      AsInt(parts));
  return next;
}

TORCH_LIBRARY_FRAGMENT(millrace_seq2seq, library) {
  library.def("why_not(Tensor positions, int heads, int hidden) -> str");
  library.def(
      "embed(Tensor tokens, Tensor positions, int more, Tensor embeddings, Tensor places, "
      "float factor, Tensor? scale, Tensor? bias, float epsilon) -> (Tensor, Tensor)");
  library.def(
      "add_norm(Tensor x, Tensor? added, Tensor? added_bias, Tensor scale, Tensor bias, "
      "float epsilon, bool want_sum) -> (Tensor, Tensor)");
  library.def(
      "attend(Tensor inputs, bool own, Tensor(a!) cache, Tensor slots, Tensor counts, int more) "
      "-> Tensor");
  library.def(
      "multiply_few_rows(Tensor x, Tensor? scale, Tensor? norm_bias, float epsilon, "
      "bool want_normed, Tensor weight, Tensor? bias, int activation, Tensor? residual) "
      "-> (Tensor, Tensor)");
  library.def(
      "choose_tokens(Tensor scores, Tensor bias, Tensor forced, Tensor(a!) chosen) -> Tensor");
}

TORCH_LIBRARY_IMPL(millrace_seq2seq, CUDA, library) {
  library.impl("why_not", WhyNot);
  library.impl("embed", Embed);
  library.impl("add_norm", AddNorm);
  library.impl("attend", Attend);
  library.impl("multiply_few_rows", MultiplyFewRows);
  library.impl("choose_tokens", ChooseTokens);
}

}  // namespace
}  // namespace millrace::seq2seq
