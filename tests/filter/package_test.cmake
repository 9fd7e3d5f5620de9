# Installs the package `bloomring::filter` into a folder of its own, builds the example against it and runs it.
#   cmake -DBUILD_DIR=... -DEXAMPLE_DIR=... -DWORK_DIR=... -DCXX=... -P package_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --component filter --prefix ${WORK_DIR}/installed)
run(${CMAKE_COMMAND} -G Ninja -S ${EXAMPLE_DIR} -B ${WORK_DIR}/build -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_CXX_FLAGS=${CXX_FLAGS}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/installed)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/filter_example)
if(NOT output STREQUAL "v2 seen, v3 unseen\n")
  message(FATAL_ERROR "the example said: ${output}")
endif()
