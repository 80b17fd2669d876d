#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_network.h"
#include "models/translation/search/search.h"
#include "tests/unit/models/bergamot/tiny_model.h"

namespace millrace::models {

// kMarianTwo: with a vocabulary of each language.
enum class TinyKind { kMarian, kMarianTwo, kM2m100 };

std::string NameOf(TinyKind kind);
// The tiny networks of make_seq2seq_golden.py: weights from the same formula.
Seq2SeqConfig TinyConfig(TinyKind kind);
TinyTensors MakeTinySeq2Seq(TinyKind kind);
std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(
    TinyKind kind, const LinearKernels& kernels = LinearKernels::For(Precision::kFloat32));
// The same with other weights of its shapes.
std::unique_ptr<const Seq2SeqNetwork> MakeTinyNetwork(TinyKind kind, const TinyTensors& tensors,
                                                      const LinearKernels& kernels);
// A search over its words.
SearchTask TinyTask(TinyKind kind);

}  // namespace millrace::models
