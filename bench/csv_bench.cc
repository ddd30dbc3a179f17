// How fast a table is read from text: csv_bench [--threads N] [--rows N] [--file FILE] [--directory DIR]
// Reads FILE, plain text, or writes one in the layout of the UCI HIGGS set (no header, 29 fields of %.18e) into DIR and
// reads that. Checks the values of the first rows against strtof. Prints one line of JSON.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "podere/base/atomic_file.h"
#include "podere/base/clock.h"
#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/parallel.h"
#include "podere/io/csv.h"

namespace {

constexpr std::size_t kColumns = 29;

/// A label, then per object one positive, two signed and one that takes few values, then positive ones only.
float draw(std::size_t row, std::size_t column) {
  podere::RandomSequence random(2014, column, row);
  if (column == 0) return random.uniform() < 0.5 ? 0.0F : 1.0F;
  if (column > 21 || column % 4 == 1) {
    return static_cast<float>(std::exp(0.5 * std::tan(1.2 * (random.uniform() - 0.5))) * (0.4 + random.uniform()));
  }
  if (column % 4 == 0) return random.uniform() < 0.5 ? 0.0F : 1.0865381F * static_cast<float>(1 + random.next() % 3);
  return static_cast<float>(6.0 * random.uniform() - 3.0);
}

void write_rows(const std::filesystem::path& path, std::size_t n_rows, int n_threads) {
  constexpr std::size_t kGrain = 4096;
  podere::AtomicFile file(path);
  for (std::size_t begin = 0; begin < n_rows; begin += 64 * kGrain) {
    std::vector<std::string> pieces(64);
    podere::parallel_for(n_threads, pieces.size(), [&](std::size_t piece, int) {
      const std::size_t first = begin + piece * kGrain;
      for (std::size_t row = first; row < std::min(n_rows, first + kGrain); ++row) {
        for (std::size_t column = 0; column < kColumns; ++column) {
          fmt::format_to(std::back_inserter(pieces[piece]), "{:.18e}{}", static_cast<double>(draw(row, column)),
                         column + 1 < kColumns ? ',' : '\n');
        }
      }
    });
    for (const std::string& piece : pieces) file.write(piece);
  }
  file.commit();
}

/// Values of the first rows that differ from strtof's, bit for bit.
std::size_t wrong_values(const std::filesystem::path& path, const podere::table::Table& table, std::size_t n_rows) {
  std::ifstream file(path);
  std::string line;
  std::size_t wrong = 0;
  for (std::size_t row = 0; row < n_rows && std::getline(file, line); ++row) {
    char* p = line.data();
    for (std::size_t column = 0; column < kColumns; ++column, ++p) {
      const float expected = std::strtof(p, &p);
      const float found = column == 0 ? table.label()[row] : table.feature(column - 1)[row];
      wrong += std::bit_cast<std::uint32_t>(found) != std::bit_cast<std::uint32_t>(expected);
    }
  }
  return wrong;
}

int run(int argc, char** argv) {
  const char* const temporary = std::getenv("TMPDIR");
  std::filesystem::path directory = std::filesystem::path(temporary ? temporary : "/tmp") / "podere-bench";
  std::filesystem::path path;
  std::size_t n_rows = 1000000;
  int n_threads = 1;
  CLI::App app("Reads a table from text.");
  app.add_option("--threads", n_threads);
  app.add_option("--rows", n_rows);
  app.add_option("--file", path);
  app.add_option("--directory", directory);
  CLI11_PARSE(app, argc, argv);

  if (path.empty()) {
    std::filesystem::create_directories(directory);
    path = directory / fmt::format("csv_{}.csv", n_rows);
    if (!std::filesystem::exists(path)) write_rows(path, n_rows, static_cast<int>(std::thread::hardware_concurrency()));
  }
  podere::io::CsvOptions options;
  options.header = false;
  options.label = "0";
  const auto comm = podere::comm::Communicator::self();
  const podere::Stopwatch watch;
  const auto table = podere::io::read_csv(path, options, comm, n_threads);
  const double seconds = watch.seconds();

  if (table.n_features() + 1 != kColumns) podere::throw_input_error("{}: needs {} fields", path.string(), kColumns);
  const std::size_t n_checked = std::min<std::size_t>(table.n_rows(), 50000);
  const std::size_t wrong = wrong_values(path, table, n_checked);
  const auto megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
  fmt::print(
      "{{\"bench\": \"csv\", \"reader\": \"podere\", \"threads\": {}, \"rows\": {}, \"megabytes\": {:.1f}, "
      "\"seconds\": {:.4f}, \"megabytes_per_second\": {:.0f}, \"rows_checked\": {}, \"values_wrong\": {}, "
      "\"file\": \"{}\"}}\n",
      n_threads, table.n_rows(), megabytes, seconds, megabytes / seconds, n_checked, wrong, path.string());
  return wrong == 0 && n_checked > 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const podere::comm::Environment environment;
  try {
    return run(argc, argv);
  } catch (const podere::Error& error) {
    fmt::print(stderr, "csv_bench: {}\n", error.what());
    return 2;
  }
}
