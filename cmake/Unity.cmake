# Unity builds: the sources of a target are compiled a few at a time, as one translation unit. What they include is then parsed once for
# all of them, and a template that several of them use is instantiated once, which takes most of the time of a cold build.
#
# Names in the anonymous namespaces of one target must therefore differ. A file that lacks an include is found by clang-tidy, which the gate
# runs on each changed file alone; `cmake --preset default -DMILLRACE_UNITY_BUILD=OFF` finds it too, and compiles less after a small change.
option(MILLRACE_UNITY_BUILD "Compile several sources of a target as one translation unit" ON)

# Called last, when all targets of the folder and of those below it are known. A source that must stay an object of its own has the property
# SKIP_UNITY_BUILD_INCLUSION.
function(millrace_unity_build directory)
  if(NOT MILLRACE_UNITY_BUILD)
    return()
  endif()
  get_directory_property(targets DIRECTORY "${directory}" BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type "${target}" TYPE)
    # The messages that protoc writes define the same names, so they are compiled alone.
    get_target_property(messages "${target}" SOURCES)
    list(FILTER messages INCLUDE REGEX "\\.pb\\.cc$")
    list(FILTER messages EXCLUDE REGEX "\\.grpc\\.pb\\.cc$")
    if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|EXECUTABLE)$" AND NOT messages)
      set_target_properties("${target}" PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    endif()
  endforeach()
  get_directory_property(folders DIRECTORY "${directory}" SUBDIRECTORIES)
  foreach(folder ${folders})
    millrace_unity_build("${folder}")
  endforeach()
endfunction()
