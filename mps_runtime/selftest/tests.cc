#include "mps_runtime/selftest/tests.h"

#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

constexpr SelftestTest kTests[] = {
    {"SimpleParallel", "operators on 2 threads give the numbers of one", TestSimpleParallel},
    {"ExtendedStress4x10", "the same on 4 threads, 10 times", TestStress4x10},
    {"ExtendedStress8x50", "the same on 8 threads, 50 times", TestStress8x50},
    {"ExtendedStress8x100", "the same on 8 threads, 100 times", TestStress8x100},
    {"ExtendedStress16x50", "the same on 16 threads, 50 times", TestStress16x50},
    {"ThreadBoundary", "each operator on 2, 8 and 16 threads, in a process of its own",
     TestThreadBoundary},
    {"EncodersOnTheQueue", "operators encode through their stream's queue and not beside it",
     TestEncodersOnTheQueue},
    {"StreamAssignment", "31 threads have 31 streams, the main thread stream 0",
     TestStreamAssignment},
    {"OwnStreamWait", "a thread that waits for its stream, while another has work under way",
     TestOwnStreamWait},
    {"LinearSerialAgainstPool", "a stream a thread against one mutex around the forward",
     TestLinearSerialAgainstPool},
    {"SpeechAndTranslationAtOnce", "two models at once give the numbers of one after the other",
     TestSpeechAndTranslationAtOnce},
    {"OverSubscription", "a 32nd thread is refused, the others do not notice",
     TestOverSubscription},
    {"ThreadChurn", "thousands of short-lived threads leak no stream", TestThreadChurn},
    {"NumbersOfTheCpu", "operators on the device give the numbers of the CPU", TestNumbersOfTheCpu},
    {"GraphsEqualEager", "recorded forwards give the numbers of eager ones", TestGraphsEqualEager},
    {"GraphsThatAreEvictedEqualEager", "also with records that come and go all the time",
     TestGraphsThatAreEvictedEqualEager},
};

}  // namespace

std::span<const SelftestTest> SelftestTests() { return kTests; }

}  // namespace millrace::runtime
