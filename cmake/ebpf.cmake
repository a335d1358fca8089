# What loads into the kernel: needs clang, to compile for it, and libbpf with its libelf and zlib, all of them static: the
# agent brings everything along. Where one is missing the rest is built without, and says so when it is asked for.
find_program(TARSIER_BPF_CLANG NAMES clang)
find_path(TARSIER_BPF_INCLUDE bpf/libbpf.h)
foreach(library bpf elf z)
  find_library(TARSIER_STATIC_${library} NAMES lib${library}.a)
endforeach()
if(TARSIER_BPF_CLANG AND TARSIER_BPF_INCLUDE AND TARSIER_STATIC_bpf AND TARSIER_STATIC_elf AND TARSIER_STATIC_z)
  set(TARSIER_EBPF 1)
else()
  set(TARSIER_EBPF 0)
  message(STATUS "eBPF: left out (clang '${TARSIER_BPF_CLANG}', headers '${TARSIER_BPF_INCLUDE}', libbpf.a "
                 "'${TARSIER_STATIC_bpf}', libelf.a '${TARSIER_STATIC_elf}', libz.a '${TARSIER_STATIC_z}')")
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
    # The kernel's types are the same on all machines: those of this one will do.
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
      set(machine x86)
    else()
      set(machine arm64)
    endif()
    add_custom_command(OUTPUT ${object}
      COMMAND ${TARSIER_BPF_CLANG} -target bpf -mcpu=v2 -O2 -g -Wall -Wextra -Werror -D__TARGET_ARCH_${machine}
        -I ${PROJECT_SOURCE_DIR}/src -isystem ${TARSIER_BPF_INCLUDE}
        -isystem /usr/include/${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu
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
