#pragma once

namespace millrace {

// Gives back the pages of large libraries that this process has only read so far: most of them have
// code that runs once, when the libraries are loaded, such as the registration of libtorch's
// operators. A page that is used again comes from the system's cache of files. Call it before there
// are threads. Linux only; elsewhere it does nothing.
void ReleaseStartupPages();

}  // namespace millrace
