#pragma once

namespace millrace::runtime {

// Bounds what libtorch's libraries keep for each thread and each shape for ever, which in a server
// that sees many lengths comes to hundreds of megabytes: oneDNN's compiled primitives, and MKL's
// buffers of a matrix product. By their environment variables, which an operator may set otherwise.
// Call it before libtorch computes anything and before there are threads.
void BoundLibraryCaches();

}  // namespace millrace::runtime
