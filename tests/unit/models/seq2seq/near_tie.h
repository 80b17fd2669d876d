#pragma once

#include "models/seq2seq/seq2seq_config.h"
#include "models/seq2seq/seq2seq_network.h"
#include "models/translation/translation_engine.h"

namespace millrace::seq2seq {

// By how much the score of one token may lead that of another that is as likely: where random
// weights attend to one token of two, the least rounding, which every instruction set does in its
// own order, moves scores by up to a tenth. Tests also bound how often that happens.
constexpr float kNearTie = 0.2F;

// Returns true if the search over this network's scores finds what `found` has once one token of
// one hypothesis, `found`'s or `expected`'s, is likelier or less likely by kNearTie. `found` and
// `expected` are the results of two engines for the same job. For a network with 64 positions.
bool IsNearTie(const Seq2SeqNetwork& network, const Seq2SeqConfig& config,
               const translation::SentenceJob& found, const translation::SentenceJob& expected);

}  // namespace millrace::seq2seq
