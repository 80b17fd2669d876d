#pragma once

#include <memory>

#include "models/kernels/integer_kernels.h"
#include "models/translation/translation_engine.h"

namespace millrace::bergamot {

class BergamotWeights;

// Makes the engine of kInt8 with the given kernels. Sentences are concatenated without padding, and
// each translation is the same, bit for bit, in any batch. It keeps a packed copy of the matrices,
// about 9 MB; a call needs a few kB for each token of its batch. The weights must outlive it.
// Thread-safe.
std::unique_ptr<const translation::TranslationEngine> MakeInt8Engine(
    const BergamotWeights& weights, const kernels::IntegerKernels& kernels);

}  // namespace millrace::bergamot
