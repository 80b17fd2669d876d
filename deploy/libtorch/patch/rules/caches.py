"""Caches that the process shares become caches of a thread."""

from ..rule import Edit, Rule

UTILS = "aten/src/ATen/native/mps/OperationUtils.h"


def per_thread(cache: str, rule: str, reason: str) -> Edit:
    """getInstance() of a cache. A thread's cache ends with the thread; that of the main thread is never deleted, as upstream's."""
    anchor = f"""\
    if (_instance_cache == nullptr) {{
      _instance_cache = new {cache}();
    }}
    return _instance_cache;
"""
    replacement = f"""\
    // [millrace {rule}] {reason}
    // It ends with the thread, which must have waited for its stream by then. The main thread's is never deleted.
    struct Owner {{
      {cache}* cache = new {cache}();
      ~Owner() {{
        if (!pthread_main_np()) {{
          delete cache;
        }}
      }}
    }};
    static thread_local Owner owner;
    return owner.cache;
"""
    return Edit(UTILS, anchor, replacement)


RULES = (
    Rule(
        name="graph-cache-per-thread",
        why="MPSGraphCache is one object for the process, made behind an unguarded null check, and hands the same MPSGraph to every thread. "
            "Encoding one MPSGraph on two threads at once is a race, so callers need a lock around all encoding. With a cache for each thread "
            "no graph is shared. Each thread compiles its own graphs, and torch.mps.empty_cache() clears those of the calling thread.",
        upstream=("https://github.com/pytorch/pytorch/issues/77176", "https://github.com/pytorch/pytorch/pull/181485"),
        edits=(
            Edit(UTILS, "#include <limits>\n", "#include <pthread.h> // [millrace graph-cache-per-thread, kernel-cache-per-thread]\n#include <limits>\n"),
            per_thread("MPSGraphCache", "graph-cache-per-thread", "Two threads must not encode one MPSGraph, so each has graphs of its own."),
        ),
    ),
    Rule(
        name="kernel-cache-per-thread",
        why="MPSKernelCache shares the kernel objects of MetalPerformanceShaders in the same way. The no-graph kernel of nn.Linear is one of "
            "them, without a lock; with this rule each thread has its own.",
        upstream=("https://github.com/pytorch/pytorch/issues/197805",),
        edits=(
            per_thread("MPSKernelCache", "kernel-cache-per-thread", "Kernel objects are not safe to encode on two threads, so each has its own."),
        ),
    ),
    Rule(
        name="linear-graph-setting",
        why="On 2.9.1 the no-graph kernel of nn.Linear crashed with three threads or more. Whether a kernel for each thread suffices has not been "
            "tried on a Mac, so MILLRACE_MPS_LINEAR_GRAPH=1 in the environment makes nn.Linear take the way through MPSGraph.",
        upstream=(),
        edits=(
            Edit("aten/src/ATen/native/mps/operations/Linear.mm",
                 "  const bool is_contiguous = input.is_contiguous() &&",
                 """\
  // [millrace linear-graph-setting] The no-graph kernel can be turned off.
  static const bool no_graph_kernel = [] {
    const char* const setting = getenv("MILLRACE_MPS_LINEAR_GRAPH");
    return setting == nullptr || *setting == '\\0' || *setting == '0';
  }();
  const bool is_contiguous = no_graph_kernel && input.is_contiguous() &&"""),
        ),
    ),
)
