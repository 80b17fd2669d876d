"""Streams: the default one is made once, a thread waits for its own, and command buffers are made on the stream's queue.

Locks: the rules add none that is held while a thread waits for a serial queue. The guard of a local static is held only while the default
stream or the profiler is made, before anything can have been submitted to either."""

from ..rule import Edit, Rule

HEADER, SOURCE = "aten/src/ATen/mps/MPSStream.h", "aten/src/ATen/mps/MPSStream.mm"
HOOKS, EVENT = "aten/src/ATen/mps/MPSHooks.mm", "aten/src/ATen/mps/MPSEvent.mm"

RULES = (
    Rule(
        name="default-stream-once",
        why="The default stream is made behind an unguarded null check, so two threads that use it first may make two of it. The initialiser of a "
            "local static runs once, whichever threads come first.",
        upstream=("https://github.com/pytorch/pytorch/pull/190375",),
        edits=(
            Edit(HEADER, "  static MPSStream* _stream;\n", """\
  static MPSStream* _stream;
  static MPSStream* makeInstance(); // [millrace default-stream-once]
"""),
            Edit(SOURCE, "MPSStream* MPSStreamImpl::getInstance() {", """\
MPSStream* MPSStreamImpl::getInstance() {
  // [millrace default-stream-once] The initialiser runs once, whichever threads come first.
  static MPSStream* const instance = makeInstance();
  return instance;
}

MPSStream* MPSStreamImpl::makeInstance() {"""),
        ),
    ),
    Rule(
        name="own-queue",
        why="A stream makes its command buffer and its encoder when they are first asked for, which is a race unless the caller is on the "
            "stream's serial queue. The queue now knows its stream. A command buffer that is asked for elsewhere is made on the queue; an encoder "
            "that is asked for elsewhere is an error, because it could be used only there.",
        upstream=("https://github.com/pytorch/pytorch/pull/197836", "https://github.com/pytorch/pytorch/pull/198039"),
        edits=(
            Edit(HEADER, "  MPSCommandBuffer_t commandBuffer();\n", """\
  // [millrace own-queue] True inside a block that runs on queue().
  bool isOnQueue() const;

  MPSCommandBuffer_t commandBuffer();
"""),
            Edit(SOURCE, "#include <ATen/mps/MPSStream.h>\n", """\
#include <ATen/mps/MPSStream.h>

// [millrace own-queue] Makes a queue that knows its stream, under the address of a variable as the key.
static char millrace_queue_key;
static dispatch_queue_t millrace_create_queue(void* stream, const char* label, dispatch_queue_attr_t attributes) {
  dispatch_queue_t queue = dispatch_queue_create(label, attributes);
  dispatch_queue_set_specific(queue, &millrace_queue_key, stream, nullptr);
  return queue;
}

"""),
            Edit(SOURCE, "  _serialQueue = dispatch_queue_create(", "  _serialQueue = millrace_create_queue(this, "),
            Edit(SOURCE, " MPSStream::commandBuffer() {\n", """\
 MPSStream::commandBuffer() {
  // [millrace own-queue] It is made lazily, so on the queue only.
  if (!isOnQueue()) {
    __block MPSCommandBuffer_t made = nil;
    dispatch_sync_with_rethrow(_serialQueue, ^() {
      made = commandBuffer();
    });
    return made;
  }
"""),
            Edit(SOURCE, " MPSStream::commandEncoder() {\n", """\
 MPSStream::commandEncoder() {
  // [millrace own-queue] Another block on the queue may end an encoder that is used elsewhere.
  TORCH_CHECK(isOnQueue(), "MPSStream::commandEncoder() must be called from a block on the stream's queue");
"""),
            Edit(SOURCE, "MPSStream* MPSStreamImpl::_stream = nullptr;\n", """\
MPSStream* MPSStreamImpl::_stream = nullptr;

// [millrace own-queue]
bool MPSStream::isOnQueue() const {
  return dispatch_get_specific(&millrace_queue_key) == this;
}
"""),
        ),
    ),
    Rule(
        name="synchronize-own-stream",
        why="torch::mps::synchronize() waits for every stream, so a worker that calls it waits for all others; torch::mps::commit() ends the "
            "process unless the caller is on the stream's queue. A thread with a stream of its own now waits for that one alone, and commit() goes "
            "to the queue when it is not there. A thread without one waits for all streams, as before.",
        upstream=("https://github.com/pytorch/pytorch/pull/191415", "https://github.com/pytorch/pytorch/pull/197836"),
        edits=(
            Edit(HOOKS, "void MPSHooks::deviceSynchronize() const {\n", """\
void MPSHooks::deviceSynchronize() const {
  // [millrace synchronize-own-stream] A thread with a stream of its own waits for that one; others wait for all.
  MPSStream* const own_stream = getCurrentMPSStream();
  if (own_stream != getDefaultMPSStream()) {
    if (own_stream->isOnQueue()) {
      own_stream->synchronize(SyncType::COMMIT_AND_WAIT);
    } else {
      dispatch_sync_with_rethrow(own_stream->queue(), ^() {
        own_stream->synchronize(SyncType::COMMIT_AND_WAIT);
      });
    }
    return;
  }
"""),
            Edit(HOOKS, "void MPSHooks::commitStream() const {\n", """\
void MPSHooks::commitStream() const {
  // [millrace synchronize-own-stream] The stream's state is touched on its queue only.
  MPSStream* const own_stream = getCurrentMPSStream();
  if (!own_stream->isOnQueue()) {
    dispatch_sync_with_rethrow(own_stream->queue(), ^() {
      own_stream->synchronize(SyncType::COMMIT);
    });
    return;
  }
"""),
        ),
    ),
    Rule(
        name="event-own-stream",
        why="An event that is acquired without a stream is recorded on the default stream, which belongs to another thread.",
        upstream=("https://github.com/pytorch/pytorch/pull/191415",),
        edits=(
            Edit(EVENT, "    stream = m_default_stream;\n", "    stream = getCurrentMPSStream(); // [millrace event-own-stream]\n"),
        ),
    ),
)
