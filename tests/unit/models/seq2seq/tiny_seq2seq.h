#pragma once

#include <memory>
#include <string>

#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_network.h"
#include "models/translation/search/search.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::seq2seq {

// kMarianTwo: with a vocabulary of each language.
enum class TinyKind { kMarian, kMarianTwo, kM2m100 };

std::string NameOf(TinyKind kind);
// The tiny networks of make_seq2seq_golden.py: weights from the same formula.
Seq2SeqConfig TinyConfig(TinyKind kind);
bergamot::TinyTensors MakeTinySeq2Seq(TinyKind kind);
std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(
    TinyKind kind, const kernels::LinearKernels& kernels =
                       kernels::LinearKernels::For(kernels::Precision::kFloat32));
// The same with other weights of its shapes.
std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(TinyKind kind,
                                                      const bergamot::TinyTensors& tensors,
                                                      const kernels::LinearKernels& kernels);
// A search over its tokens.
translation::SearchTask TinyTask(TinyKind kind);

}  // namespace millrace::seq2seq
