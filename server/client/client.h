#pragma once

#include "server/config/commands.h"

namespace millrace {

// The client commands of the binary. Each returns the exit status and prints an error as one line
// on standard error.
int RunModels(const ModelsCommand& command);
int RunPackage(const PackageCommand& command);
int RunLoad(const LoadCommand& command);
int RunUnload(const UnloadCommand& command);
int RunUsage(const UsageCommand& command);
int RunConvicted(const ConvictedCommand& command);
int RunCrashes(const CrashesCommand& command);
int RunTranslate(const TranslateCommand& command);
int RunSynthesize(const SynthesizeCommand& command);
int RunBenchNull(const BenchNullCommand& command);
int RunTrace(const TraceCommand& command);
int RunHashKey(const HashKeyCommand& command);
int RunCompletion(const CompletionCommand& command);

}  // namespace millrace
