# Builds ui/dist/page.html. Several build trees (release, asan, ...) may want it at the same moment: one at a time.
file(MAKE_DIRECTORY ${UI}/dist)
file(LOCK ${UI}/dist/.lock GUARD PROCESS TIMEOUT 600)

function(npm)
  execute_process(COMMAND ${NPM} ${ARGN} WORKING_DIRECTORY ${UI} RESULT_VARIABLE failed OUTPUT_VARIABLE said
                  ERROR_VARIABLE said)
  if(failed)
    list(JOIN ARGN " " words)
    message(FATAL_ERROR "npm ${words} failed in ${UI}:\n${said}")
  endif()
endfunction()

# npm keeps a copy of the lock file's content in node_modules; older than ours: something changed.
if(${UI}/package-lock.json IS_NEWER_THAN ${UI}/node_modules/.package-lock.json)
  npm(ci --no-audit --no-fund)
endif()
npm(run build)
