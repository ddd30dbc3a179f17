// Looks for leaks before MPI ends. MPI_Finalize unloads modules that have not released all memory: a leak of theirs
// can then be distinguished from ours only by whole stacks, unwound by tables at each malloc, which takes more than
// half of the time. While they are there, the module that called malloc is known, and lsan.supp names it. What MPI
// keeps of its start is not counted. A part of builds with the address sanitizer; processes without
// MPI look at their exit, as ever.
#include <sanitizer/lsan_interface.h>

extern "C" {

int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
int PMPI_Finalize();

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const __lsan::ScopedDisabler what_mpi_keeps;
  return PMPI_Init_thread(argc, argv, required, provided);
}

int MPI_Finalize() {
  __lsan_do_leak_check();
  return PMPI_Finalize();
}
}
