#pragma once

namespace millrace::runtime {

// libtorch's pool of MPS streams has no version that can be queried, so its functions are looked up
// by name in the library that is loaded: getStreamByID(int64_t) came with 2.15,
// setCurrentMPSStream(MPSStream*) and getStreamFromPool() with 2.14. Names are those of the Itanium
// C++ ABI; int64_t is `long long` on macOS and `long` on Linux.
#ifdef __APPLE__
inline constexpr char kGetStreamById[] = "_ZN2at3mps13getStreamByIDEx";
#else
inline constexpr char kGetStreamById[] = "_ZN2at3mps13getStreamByIDEl";
#endif
inline constexpr char kSetCurrentStream[] = "_ZN2at3mps19setCurrentMPSStreamEPNS0_9MPSStreamE";
inline constexpr char kGetStreamFromPool[] = "_ZN2at3mps17getStreamFromPoolEv";

// Functions that the selftest only looks for: synchronizeAllMPSStreams(SyncType),
// MPSStream::checkLastError() and getMPSProfiler(). All three are in 2.15.
inline constexpr char kSynchronizeAllStreams[] =
    "_ZN2at3mps24synchronizeAllMPSStreamsENS0_8SyncTypeE";
inline constexpr char kCheckLastError[] = "_ZN2at3mps9MPSStream14checkLastErrorEv";
inline constexpr char kGetProfiler[] = "_ZN2at3mps14getMPSProfilerEv";

// The name that Provenance has for the functions of 2.15, which a patched libtorch has.
inline constexpr char kStreamsByNumber[] = "getStreamByID";

// int millrace_mps_patch_level(), which deploy/libtorch/patch adds to libtorch.
inline constexpr char kPatchLevel[] = "millrace_mps_patch_level";

}  // namespace millrace::runtime
