# Language, warnings, ccache and sanitizers for our own targets.
include(CMakeDependentOption)
option(BLOOMRING_FAULT_POINTS "Compile fault points in: for builds that are tested, not for what is shipped" OFF)
cmake_dependent_option(BLOOMRING_TESTS "Build the tests, which need fault points" ON BLOOMRING_FAULT_POINTS OFF)
option(BLOOMRING_BENCH "Build the benchmarks" ON)
option(BLOOMRING_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(BLOOMRING_PRECOMPILE "Precompile the headers that most sources share" OFF)
set(BLOOMRING_SANITIZE "" CACHE STRING "Sanitizers for our targets: address,undefined or thread")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

find_program(BLOOMRING_CCACHE ccache)
if(BLOOMRING_CCACHE)
  # Relative paths, so that another checkout of the same sources finds the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=true
    CCACHE_SLOPPINESS=pch_defines,time_macros ${BLOOMRING_CCACHE})
endif()

add_library(bloomring_options INTERFACE)
target_include_directories(bloomring_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(bloomring_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  -fno-omit-frame-pointer
  # Only clang sees references that outlive their object (base/borrow.h).
  $<$<CXX_COMPILER_ID:Clang>:-Wdangling;-Wdangling-field;-Wdangling-gsl;-Wdangling-initializer-list;-Wreturn-stack-address>
  $<$<CXX_COMPILER_ID:Clang>:-Wrange-loop-analysis;-Wreturn-std-move;-Wself-move>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-gnu-statement-expression>)  # librdkafka's macros
# Hardening of what is shipped. tests/repo/test_shipped.py looks for it in the program; bench/RESULTS.md has its cost.
target_compile_options(bloomring_options INTERFACE
  "$<$<CONFIG:Release>:-fPIE;-fstack-protector-strong;-fstack-clash-protection;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=3>"
  $<$<CONFIG:Release>:-D_GLIBCXX_ASSERTIONS>)
target_link_options(bloomring_options INTERFACE "$<$<CONFIG:Release>:-pie;LINKER:-z,relro;LINKER:-z,now;LINKER:-z,noexecstack>")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  target_compile_options(bloomring_options INTERFACE $<$<CONFIG:Release>:-fcf-protection>)
endif()
if(BLOOMRING_SANITIZE)
  # With sanitizers g++ 12 sees uninitialised values inside the standard library's <regex> that are none.
  target_compile_options(bloomring_options INTERFACE
    -fsanitize=${BLOOMRING_SANITIZE} -fno-sanitize-recover=all $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(bloomring_options INTERFACE -fsanitize=${BLOOMRING_SANITIZE})
endif()

# bloomring_precompile(TARGET HEADERS...): in builds that ask for it. With clang at -O0 reading headers is most of the time.
function(bloomring_precompile target)
  if(BLOOMRING_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <unordered_map> <vector> ${ARGN})
    # A time stamp inside would make every build another one for ccache.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>)
  endif()
endfunction()

# bloomring_fault_points(FILE...): the sources that include base/faults/fault_point.h. They alone learn whether fault points are
# compiled in: two builds that differ in nothing else share all other objects through ccache.
function(bloomring_fault_points)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_DEFINITIONS BLOOMRING_FAULT_POINTS=$<BOOL:${BLOOMRING_FAULT_POINTS}>)
endfunction()

# bloomring_library(NAME SOURCES ... DEPENDS ...): one folder, one target.
function(bloomring_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC bloomring_options ${ARG_DEPENDS})
  bloomring_precompile(${name})
endfunction()
