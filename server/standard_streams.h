#pragma once

namespace millrace {

// Gives each of the standard streams that the caller has closed a descriptor that fails when it is
// read or written. Otherwise the next file or socket that is opened would have its number, and
// would be read as the input or get the log.
void HoldStandardStreams();

}  // namespace millrace
