#pragma once

namespace millrace::runtime {

// Bounds what libtorch's libraries keep for each thread and each shape until the process exits:
// oneDNN's compiled primitives and MKL's buffers of matrix products, which reach hundreds of
// megabytes in a server that sees many lengths. It sets their environment variables, unless the
// operator has set them. Call it before libtorch computes anything and before there are threads.
void BoundLibraryCaches();

}  // namespace millrace::runtime
