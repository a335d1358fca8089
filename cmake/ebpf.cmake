# What is loaded into the kernel is compiled by clang, for any machine on any machine. Without a clang that can do that it
# is left out, and who asks for it is told so.
find_program(TARSIER_BPF_CLANG NAMES clang)
set(TARSIER_EBPF 0)
if(TARSIER_BPF_CLANG)
  execute_process(COMMAND ${TARSIER_BPF_CLANG} -target bpf -x c -c /dev/null -o /dev/null RESULT_VARIABLE failed
    OUTPUT_QUIET ERROR_QUIET)
  if(NOT failed)
    set(TARSIER_EBPF 1)
  endif()
endif()
if(NOT TARSIER_EBPF)
  message(STATUS "eBPF: left out: no clang that compiles for it")
endif()

# tarsier_embed_bpf(target source header function): compiles the eBPF program and gives the target
# std::span<const uint8_t> function() noexcept, as declared in the header, with the object file; empty if it is left out.
function(tarsier_embed_bpf target source header function)
  get_filename_component(name ${source} NAME_WLE)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(embedded ${CMAKE_CURRENT_BINARY_DIR}/${name}.cpp)
  set(script ${PROJECT_SOURCE_DIR}/cmake/write_bpf_source.cmake)
  set(needed ${script})
  if(TARSIER_EBPF)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
      set(machine x86)
    else()
      set(machine arm64)
    endif()
    # The types in the kernel's headers are the same on all machines: those of this one will do.
    add_custom_command(OUTPUT ${object}
      COMMAND ${TARSIER_BPF_CLANG} -target bpf -mcpu=v2 -O2 -Wall -Wextra -Werror -D__TARGET_ARCH_${machine}
        -I ${PROJECT_SOURCE_DIR}/src -isystem /usr/include/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu
        -MD -MF ${object}.d -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      DEPFILE ${object}.d
      COMMENT "Compiling ${source} for the kernel" VERBATIM)
    list(APPEND needed ${object})
  endif()
  add_custom_command(OUTPUT ${embedded}
    COMMAND ${CMAKE_COMMAND} -D OBJECT=${object} -D PRESENT=${TARSIER_EBPF} -D HEADER=${header} -D FUNCTION=${function}
      -D SOURCE=${embedded} -P ${script}
    DEPENDS ${needed}
    COMMENT "Embedding ${source}" VERBATIM)
  target_sources(${target} PRIVATE ${embedded})
endfunction()
