# One static library per folder of src/, all built the same way.
#
#   tarsier_library(recording DEPENDS base LIBRARIES lz4 [SIGSAFE] [TOGETHER])
#
# takes every *.cpp of the folder; *_test.cpp become the test program recording_test, *_fuzz.cpp fuzzers,
# *_bench.cpp micro benchmarks. What a folder may depend on is checked by script/check-layers.

set(TARSIER_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
    -Wold-style-cast -Woverloaded-virtual -Wimplicit-fallthrough -Werror)
add_compile_options(${TARSIER_WARNINGS} -fno-omit-frame-pointer -fstack-protector-strong)
if(TARSIER_SANITIZE)
  add_compile_options(-fsanitize=${TARSIER_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TARSIER_SANITIZE})
  if(TARSIER_SANITIZE MATCHES undefined)
    # Asks for the type information of classes that the SIGSAFE folders build without any.
    add_compile_options(-fno-sanitize=vptr)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    # g++ 12 sees uninitialized members in its own std::regex once that is instrumented.
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()
if(TARSIER_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_package(Threads REQUIRED)
if(TARSIER_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# What script/build builds: `products` is what users get, `unit_tests` all *_test programs, `fuzzers` all *_fuzz.
add_custom_target(products)
add_custom_target(unit_tests)
add_custom_target(fuzzers)

# tarsier_product(target): the command and the agent land side by side at the top of the build, where the one looks for
# the other.
function(tarsier_product target)
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  # Nothing is bound lazily: the first call of a function may come in a signal handler.
  target_link_options(${target} PRIVATE -Wl,-z,now,-z,relro,-z,noexecstack)
  add_dependencies(products ${target})
endfunction()

# Small files that share large headers and instantiate the same templates: several of them as one take half the time.
# Tests always (their names must differ within a folder then); what users get only with sanitizers, so that one build at
# least sees that every file includes what it uses.
function(tarsier_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
endfunction()

function(tarsier_library name)
  cmake_parse_arguments(ARG "SIGSAFE;TOGETHER" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  set(tests ${sources})
  set(fuzzers ${sources})
  set(benches ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cpp$")

  set(deps ${ARG_DEPENDS})
  list(TRANSFORM deps PREPEND tarsier_)
  if(sources)
    add_library(tarsier_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(tarsier_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(tarsier_${name} ${scope} ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(tarsier_${name} ${scope} ${deps} ${ARG_LIBRARIES} Threads::Threads)
  if(ARG_SIGSAFE AND sources)
    # What runs in somebody else's thread throws nothing, and no frame of it may eat the 8 KB that a handler has.
    target_compile_options(tarsier_${name} PRIVATE -fno-exceptions -fno-rtti -fno-stack-protector
                           -Wframe-larger-than=2048)
  endif()

  if(TARSIER_TESTS AND tests AND (NOT TARSIER_TESTS_OF OR name IN_LIST TARSIER_TESTS_OF))
    add_executable(${name}_test ${tests})
    add_dependencies(unit_tests ${name}_test)
    target_link_libraries(${name}_test PRIVATE tarsier_${name} GTest::gtest_main GTest::gmock)
    target_compile_options(${name}_test PRIVATE -Wno-shadow -Wno-conversion)
    if(ARG_TOGETHER)
      tarsier_compile_together(${name}_test)
      if(sources AND TARSIER_SANITIZE)
        tarsier_compile_together(tarsier_${name})
      endif()
    endif()
    if(TARSIER_SANITIZE)
      # One process for all tests of a folder: with AddressSanitizer each process takes seconds to look for leaks.
      add_test(NAME ${name}_test COMMAND ${name}_test)
      set_tests_properties(${name}_test PROPERTIES TIMEOUT 600 LABELS unit
        ENVIRONMENT TARSIER_SOURCE_DIR=${PROJECT_SOURCE_DIR})
    else()
      gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS unit
        ENVIRONMENT TARSIER_SOURCE_DIR=${PROJECT_SOURCE_DIR})
    endif()
  endif()
  if(TARSIER_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      add_dependencies(fuzzers ${target})
      target_link_libraries(${target} PRIVATE tarsier_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
  if(TARSIER_BENCH AND benches)
    find_package(benchmark REQUIRED)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE tarsier_${name} benchmark::benchmark_main)
  endif()
endfunction()
