// An all-reduce: each process learns the sum of what all have. So processes train one model, each with rows of its own.
//
//   mpicxx -O2 all_reduce.cc -o all_reduce && mpirun -n 2 ./all_reduce
//
// What to see: run it on 1, 2 and 3 processes. All of them come as near to the line y = 3 x - 1, although none has seen
// all rows, and no process sent a model: equal sums lead to equal steps. Trained with sums of doubles, the last digits
// depend on the number of processes. Trained with sums of integers, they do not.
//
// Podere does the same: podere/comm/communicator.h wraps MPI's call, podere/neural/batch_gradient.cc sums the gradients
// of networks by it, podere/tree/histogram.cc the histograms of trees (each process keeps the sums of its features).
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

int main(int argc, char** argv) {
  constexpr int kRows = 100'000;
  constexpr double kUnit = 0x1p-40;  // gradients of rows are rounded to multiples of it
  int rank = 0, n_ranks = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
  double by_doubles[2] = {0, 0}, by_integers[2] = {0, 0};  // slope and offset of the line
  for (int step = 0; step < 50; ++step) {
    double sum[2] = {0, 0};
    std::int64_t units[2] = {0, 0};
    for (int row = rank; row < kRows; row += n_ranks) {
      const double x = std::sin(row), y = 3 * x - 1 + std::cos(7.0 * row);
      const double factor[2] = {x, 1};
      for (int i = 0; i < 2; ++i) {
        sum[i] += (by_doubles[0] * x + by_doubles[1] - y) * factor[i];
        units[i] += std::llround((by_integers[0] * x + by_integers[1] - y) * factor[i] / kUnit);
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, units, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < 2; ++i) {
      by_doubles[i] -= 0.1 * sum[i] / kRows;
      by_integers[i] -= 0.1 * static_cast<double>(units[i]) * kUnit / kRows;
    }
  }
  std::printf("rank %d of %d: y = %.17g x + %.17g by doubles, y = %.17g x + %.17g by integers\n", rank, n_ranks,
              by_doubles[0], by_doubles[1], by_integers[0], by_integers[1]);
  MPI_Finalize();
}
