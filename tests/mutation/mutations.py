"""Deliberate breakages of the MPS backend and what it stands on, each of which a test must notice.

  mutations.py list                    one line a mutation: NAME SOURCE_FILE
  mutations.py write ROOT NAME OUT     the mutated source of NAME, from ROOT, as file OUT
  mutations.py check BINARY NAME       passes when its test in BINARY fails or crashes, or hangs where it is to

A mutation whose original text is no longer in the source, once, is an error: it would prove nothing.
"""

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

BACKEND = "mps_runtime/backend/mps/mps_backend.cc"
HANG_SECONDS = 15     # for a test that is to hang
PATIENCE_SECONDS = 50


@dataclass(frozen=True)
class Mutation:
    name: str
    test: str  # of mps_pool_test, which must notice it
    source: str
    edits: tuple[tuple[str, str], ...]  # original text, its replacement
    hangs: bool = False  # how the test notices it


MUTATIONS = [
    Mutation(
        "wait_off_the_queue",
        "SynchronizeReturnsWhenTheWorkIsDone",
        BACKEND,
        (("dispatch_sync_f(wait.stream->queue(), &wait, WaitOnQueue);", "WaitOnQueue(&wait);"),),
    ),
    Mutation(
        "two_threads_on_one_stream",
        "SixteenThreadsGiveTheNumbersOfTheCpu",
        BACKEND,
        (("= get_stream_by_id_(slot);", "= get_stream_by_id_(1);"),),
    ),
    Mutation(
        "streams_made_by_workers",
        "SixteenThreadsGiveTheNumbersOfTheCpu",
        BACKEND,
        (
            ("streams_[static_cast<size_t>(slot)] = get_stream_by_id_(slot);", "{}"),
            (
                "set_current_stream_(At(stream));",
                "set_current_stream_(streams_[static_cast<size_t>(stream.slot)] = get_stream_by_id_(stream.slot));",
            ),
        ),
    ),
    Mutation(
        "lock_around_the_queue",
        "AThreadWaitsForItsOwnStreamOnly",
        BACKEND,
        (
            (
                "  dispatch_sync_f(wait.stream->queue()",
                "  static std::mutex mu;\n  const std::scoped_lock lock(mu);\n  dispatch_sync_f(wait.stream->queue()",
            ),
            ("#include <memory>\n", "#include <memory>\n#include <mutex>\n"),
        ),
        hangs=True,
    ),
    Mutation(
        "lease_not_returned",
        "AStreamThatWasGivenBackIsTheNextThreads",
        "mps_runtime/stream_pool.cc",
        (("free_[free_count_++] = slot;", ""),),
    ),
    Mutation(
        "buffers_reused_too_early",
        "SynchronizeReturnsWhenTheWorkIsDone",
        BACKEND,
        (("at::mps::SyncType::COMMIT_AND_WAIT", "at::mps::SyncType::COMMIT"),),
    ),
    Mutation(
        "stream_left_current",
        "AStreamThatWasGivenBackIsTheNextThreads",
        BACKEND,
        (("  if (HasPool()) set_current_stream_(nullptr);\n", ""),),
    ),
    Mutation(
        "device_wide_wait",
        "AThreadWaitsForItsOwnStreamOnly",
        BACKEND,
        (
            (
                "dispatch_sync_f(wait.stream->queue(), &wait, WaitOnQueue);",
                "at::mps::synchronizeAllMPSStreams(at::mps::SyncType::COMMIT_AND_WAIT);",
            ),
            ("void WaitOnQueue(", "[[maybe_unused]] void WaitOnQueue("),
        ),
    ),
    Mutation(
        "error_of_the_gpu_lost",
        "AnErrorOfTheGpuFailsOneForward",
        BACKEND,
        (("if (wait.failure == nullptr) return;", "return;"),),
    ),
    Mutation(
        "exception_through_the_queue",
        "AnErrorOfTheGpuFailsOneForward",
        BACKEND,
        (("wait->failure = std::current_exception();", "throw;"),),
    ),
    Mutation(
        "autorelease_pool_not_drained",
        "EachForwardHasAnAutoreleasePool",
        BACKEND,
        (("{ objc_autoreleasePoolPop(scope); }", "{ (void)scope; }"),),
    ),
    Mutation(
        "encode_lock_not_taken",
        "OneThreadAtATimeEncodesGraphsThatAreShared",
        "mps_runtime/thread_context.cc",
        (
            ("if (runtime_.mode_ == ForwardMode::kEncodeLock) wait += LockTimed(runtime_.forward_mu_);", ""),
            ("if (runtime_.mode_ == ForwardMode::kEncodeLock) runtime_.forward_mu_.Unlock();", ""),
            ("if (!permit_ || runtime_.mode_ != ForwardMode::kEncodeLock) {", "if (true) {"),
        ),
    ),
    Mutation(
        "no_encode_lock_for_a_stock_libtorch",
        "OneThreadAtATimeEncodesGraphsThatAreShared",
        BACKEND,
        (("HasGraphsByThread() ? ForwardMode::kParallel", "true ? ForwardMode::kParallel"),),
    ),
    Mutation(
        "encode_lock_for_a_patched_libtorch",
        "ThreadsWithGraphsOfTheirOwnEncodeThemAtOnce",
        BACKEND,
        (("HasGraphsByThread() ? ForwardMode::kParallel", "false ? ForwardMode::kParallel"),),
    ),
    Mutation(
        "failed_forward_not_waited_for",
        "AForwardThatFailsLeavesNothingUnderWay",
        "mps_runtime/thread_context.cc",
        (("  if (failed) {\n", "  if (failed && false) {\n"),),
    ),
]


def write(root: Path, name: str, out: Path) -> None:
    mutation = next(mutation for mutation in MUTATIONS if mutation.name == name)
    text = (root / mutation.source).read_text()
    for original, replacement in mutation.edits:
        if text.count(original) != 1:
            sys.exit(f"{mutation.source}: the mutation {name} needs this text once, it is there {text.count(original)} times: {original}")
        text = text.replace(original, replacement)
    out.write_text(text)


def check(binary: str, name: str) -> None:
    mutation = next(mutation for mutation in MUTATIONS if mutation.name == name)
    patience = HANG_SECONDS if mutation.hangs else PATIENCE_SECONDS
    try:
        run = subprocess.run([binary, f"--gtest_filter=*.{mutation.test}"], capture_output=True, text=True, timeout=patience)
    except subprocess.TimeoutExpired:
        if not mutation.hangs:
            sys.exit(f"{mutation.test} has not ended after {patience} s: it should have failed")
        print(f"noticed: {mutation.test} hangs")
        return
    output = run.stdout + run.stderr
    if not re.search(rf"\[ RUN +\] \S*\.{mutation.test}$", output, re.MULTILINE):
        sys.exit(f"there is no test {mutation.test}:\n{output}")
    if run.returncode == 0:
        sys.exit(f"the mutation survives {mutation.test}:\n{output}")
    reason = next((line for line in output.splitlines() if "stand-in:" in line or "Failure" in line or "terminate" in line), "")
    print(f"noticed: {mutation.test} ends with {run.returncode}: {reason}")


def main(command: str, *arguments: str) -> None:
    if command == "list":
        for mutation in MUTATIONS:
            print(mutation.name, mutation.source)
    elif command == "write":
        write(Path(arguments[0]), arguments[1], Path(arguments[2]))
    elif command == "check":
        check(*arguments)


if __name__ == "__main__":
    main(*sys.argv[1:])
