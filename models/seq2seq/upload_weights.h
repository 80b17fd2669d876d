#pragma once

#include "models/seq2seq/aten/transformer.h"
#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_weights.h"
#include "mps_runtime/stream.h"

namespace millrace::seq2seq {

// Copies the weights to the device: float16 on CUDA, float32 elsewhere. Call it on the main thread
// after the device was bootstrapped. Throws what libtorch throws when there is too little memory.
TransformerWeights UploadWeights(const Seq2SeqWeights& weights, const Seq2SeqConfig& config,
                                 runtime::DeviceType device);

}  // namespace millrace::seq2seq
