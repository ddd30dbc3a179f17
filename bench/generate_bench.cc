// How fast events are made, on one core, and written as text: generate_bench [--events N] [--threads N] [--directory
// DIR] Checks that the sums of all features are those of another number of threads and that the text has its lines;
// prints two lines of JSON.
#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "podere/base/clock.h"
#include "podere/base/progress.h"
#include "podere/collider/higgs.h"

namespace {

std::vector<double> sums_of(const podere::table::Table& table) {
  std::vector<double> sums;
  for (std::size_t j = 0; j < table.n_features(); ++j) {
    double sum = 0;
    for (const float x : table.feature(j)) sum += x;
    sums.push_back(sum);
  }
  return sums;
}

std::size_t lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::size_t n = 0;
  for (std::string line; std::getline(file, line);) ++n;
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Speed of the event generator");
  std::uint64_t n_events = 1'000'000;
  int n_threads = 2;
  std::filesystem::path directory = std::filesystem::temp_directory_path();
  app.add_option("--events", n_events)->check(CLI::PositiveNumber);
  app.add_option("--threads", n_threads, "for writing text")->check(CLI::PositiveNumber);
  app.add_option("--directory", directory)->check(CLI::ExistingDirectory);
  CLI11_PARSE(app, argc, argv);

  const podere::comm::Environment environment;
  const auto comm = podere::comm::Communicator::self();
  podere::Stopwatch watch;
  const auto table = podere::collider::generate_table(1, 0, n_events, comm, 1);
  const double seconds = watch.seconds();
  if (sums_of(table) != sums_of(podere::collider::generate_table(1, 0, n_events, comm, 3))) {
    fmt::print(stderr, "another number of threads makes other events\n");
    return 1;
  }
  fmt::print("{{\"bench\":\"generate\",\"events\":{},\"cores\":1,\"events_per_second\":{:.0f}}}\n", n_events,
             static_cast<double>(n_events) / seconds);

  const auto path = directory / fmt::format("generate_bench_{}.csv", getpid());
  podere::Progress progress;
  watch.restart();
  podere::collider::write_csv(path, 1, n_events, false, n_threads, progress);
  const double text_seconds = watch.seconds();
  const auto bytes = std::filesystem::file_size(path);
  const bool is_whole = lines_of(path) == n_events;
  std::filesystem::remove(path);
  if (!is_whole) {
    fmt::print(stderr, "{}: has not {} lines\n", path.string(), n_events);
    return 1;
  }
  fmt::print(
      "{{\"bench\":\"generate_text\",\"events\":{},\"cores\":{},\"bytes\":{},\"megabytes_per_second\":{:.0f},"
      "\"events_per_second\":{:.0f}}}\n",
      n_events, n_threads, bytes, static_cast<double>(bytes) / text_seconds / 1e6,
      static_cast<double>(n_events) / text_seconds);
  return 0;
}
