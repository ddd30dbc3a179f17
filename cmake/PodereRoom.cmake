# One folder is one room: all its sources are the library podere_<room>; x_test.cc files are its unit tests and
# x_distributed_test.cc files are run by mpirun on 1, 2, 3 and 5 ranks.
find_program(MPIRUN mpirun REQUIRED)
set(PODERE_MPIRUN ${CMAKE_COMMAND} -E env OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_ALLOW_RUN_AS_ROOT=1
  OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_hwloc_base_binding_policy=none
  OMP_WAIT_POLICY=passive ${MPIRUN})

# podere_room(name DEPENDS room... [LIBRARIES lib...])
function(podere_room name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  set(unit_tests ${sources})
  list(FILTER unit_tests INCLUDE REGEX "_test\\.cc$")
  set(distributed_tests ${unit_tests})
  list(FILTER distributed_tests INCLUDE REGEX "_distributed_test\\.cc$")
  list(FILTER unit_tests EXCLUDE REGEX "_distributed_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "(_test|_fuzz|_main)\\.cc$")

  list(TRANSFORM ARG_DEPENDS PREPEND podere_ OUTPUT_VARIABLE dependencies)
  file(GLOB headers CONFIGURE_DEPENDS *.h)
  add_library(podere_${name} STATIC ${sources} ${headers})
  set_target_properties(podere_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(podere_${name} PUBLIC podere_options ${dependencies} ${ARG_LIBRARIES})

  if(unit_tests)
    add_executable(${name}_test ${unit_tests})
    target_link_libraries(${name}_test PRIVATE podere_${name} podere_test_main)
    add_test(NAME ${name} COMMAND ${name}_test)
    set_tests_properties(${name} PROPERTIES TIMEOUT 300)
  endif()
  if(distributed_tests)
    add_executable(${name}_distributed_test ${distributed_tests})
    target_link_libraries(${name}_distributed_test PRIVATE podere_${name} podere_test_main)
    foreach(ranks 1 2 3 5)
      add_test(NAME ${name}_on_${ranks}_ranks COMMAND ${PODERE_MPIRUN} -n ${ranks} $<TARGET_FILE:${name}_distributed_test>)
      set_tests_properties(${name}_on_${ranks}_ranks PROPERTIES TIMEOUT 300)
    endforeach()
  endif()
endfunction()
