# tarsier_embed_page(target): gives the target page_template(), the page of ui/ as one string.
#
# ui/dist/page.html is built by npm whenever the page's sources are newer. Where there is no npm, a page that is
# already there is taken as it is.

function(tarsier_embed_page target)
  set(ui ${PROJECT_SOURCE_DIR}/ui)
  set(page ${ui}/dist/page.html)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/page_template.cpp)
  set(build_script ${PROJECT_SOURCE_DIR}/cmake/build_page.cmake)
  set(embed_script ${PROJECT_SOURCE_DIR}/cmake/write_page_source.cmake)

  find_program(TARSIER_NPM npm)
  if(TARSIER_NPM)
    file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${ui}/src/*)
    add_custom_command(OUTPUT ${page}
      COMMAND ${CMAKE_COMMAND} -D UI=${ui} -D NPM=${TARSIER_NPM} -P ${build_script}
      DEPENDS ${page_sources} ${ui}/build.mjs ${ui}/package.json ${ui}/package-lock.json ${build_script}
      COMMENT "Building the page" VERBATIM)
  elseif(NOT EXISTS ${page})
    message(FATAL_ERROR "the page is not built and npm is missing: install npm (script/bootstrap does), "
                        "or configure with -DTARSIER_COMMAND=OFF")
  endif()
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -D PAGE=${page} -D SOURCE=${source} -P ${embed_script}
    DEPENDS ${page} ${embed_script}
    COMMENT "Embedding the page" VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
