// A loop by threads: each row of a picture is a task, and a thread that is done takes the next one.
//
//   g++ -O2 -fopenmp loop.cc -o loop && OMP_NUM_THREADS=2 ./loop
//
// What to see: the threads do other numbers of rows in each run, since rows need more or less work. The sum stays the
// same: no row depends on another, and each has a place of its own in `steps`. With schedule(static) each thread gets
// as many rows as the others, and the one with the hardest rows is late: the seconds grow.
//
// Podere does the same in podere/base/parallel.h: parallel_for hands tasks to threads, and passes on what they throw.
#include <omp.h>

#include <cstdio>
#include <vector>

/// How long a point stays near zero (the Mandelbrot set).
int steps_at(double x, double y) {
  int n = 0;
  for (double a = 0, b = 0; n < 2000 && a * a + b * b < 4; ++n) {
    const double next = a * a - b * b + x;
    b = 2 * a * b + y;
    a = next;
  }
  return n;
}

int main() {
  constexpr int kRows = 600, kColumns = 300;
  std::vector<long> steps(kRows);                     // of each row
  std::vector<int> n_rows_of(omp_get_max_threads());  // of each thread
  const double begin = omp_get_wtime();
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < kRows; ++row) {
    for (int column = 0; column < kColumns; ++column) {
      steps[row] += steps_at(3.0 * column / kColumns - 2, 2.0 * row / kRows);
    }
    ++n_rows_of[omp_get_thread_num()];
  }
  const double seconds = omp_get_wtime() - begin;
  long sum = 0;
  for (const long n : steps) sum += n;
  std::printf("%ld steps in %.3f s, rows by thread:", sum, seconds);
  for (const int n : n_rows_of) std::printf(" %d", n);
  std::printf("\n");
}
