#include "tests/fakes/mps/serial_queue.h"

#include "tests/fakes/mps/rules.h"

void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  if (queue->IsHeldHere()) {
    millrace::mps_standin::Violation(
        "BUG IN CLIENT OF LIBDISPATCH: dispatch_sync called on queue already owned by current "
        "thread");
  }
  const std::scoped_lock lock(queue->mu);
  queue->owner = std::this_thread::get_id();
  // libdispatch lets no exception through either.
  [&]() noexcept { work(context); }();
  queue->owner = std::thread::id();
}
