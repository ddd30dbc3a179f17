// A reduction: threads add up what they have, and the sums become one.
//
//   g++ -O2 -fopenmp reduction.cc -o reduction && OMP_NUM_THREADS=2 ./reduction
//
// What to see: run it with 1, 2 and 3 threads. The last digits of the sum of doubles change: each addition is rounded,
// and the threads add in another order. Sums of integers are not rounded, so theirs is always the same. Leave out
// `reduction`, and threads write the same variable at once: additions are lost, in each run others.
//
// Podere promises the same bits on any number of threads, so its sums over rows are of integers:
// podere/tree/quantize.h rounds the gradient of each row to one, podere/base/exact_sum.h adds doubles without rounding.
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

int main() {
  constexpr int kNumbers = 10'000'000;
  constexpr double kUnit = 0x1p-50;  // numbers are rounded to multiples of it
  double sum = 0;
  std::int64_t units = 0;
#pragma omp parallel for reduction(+ : sum, units)
  for (int i = 1; i <= kNumbers; ++i) {
    const double number = 1.0 / i;
    sum += number;
    units += std::llround(number / kUnit);
  }
  std::printf("%d threads: sum of doubles %.17g, of integers %.17g\n", omp_get_max_threads(), sum,
              static_cast<double>(units) * kUnit);
}
