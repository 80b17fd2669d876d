#pragma once

#include <stdexcept>

namespace millrace::runtime {

// A caller broke a rule of streams and threads: wrong thread, second bootstrap, or second stream
// for one thread. This is a bug of the caller, not a state of the system.
class StreamError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// All worker slots are leased. Nothing else is affected; a slot comes back when a worker thread
// ends.
class StreamPoolExhausted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A forward was not run because its inputs have a shape that may not be added to those that are
// compiled or recorded (see ShapeRegistry). Other shapes still run. The message is for the client.
class ShapeRefused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The device or its driver failed while work was submitted or awaited.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace millrace::runtime
