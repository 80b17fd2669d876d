#pragma once

#include <memory>

#include "models/kernels/integer_kernels.h"
#include "models/translation/translation_engine.h"

namespace millrace::bergamot {

class BergamotWeights;

// The engine of kInt8 on the given kernels. Sentences lie one behind another without padding,
// and each one's result is the same, bit for bit, in any batch. Keeps a packed copy of the
// matrices, about 9 MB; a call needs a few kB for each token of its batch. The weights must outlive
// it. Thread-safe.
std::unique_ptr<const translation::TranslationEngine> MakeInt8Engine(
    const BergamotWeights& weights, const kernels::IntegerKernels& kernels);

}  // namespace millrace::bergamot
