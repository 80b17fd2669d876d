#pragma once

// The two things of libdispatch that the MPS backend uses, for Linux. See ../../serial_queue.h.

extern "C" {
typedef struct dispatch_queue_s* dispatch_queue_t;
typedef void (*dispatch_function_t)(void*);

// Runs work(context) on the queue and returns when it has ended. Ends the process when the calling
// thread is on that queue already.
void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
}
