// Runs an ONNX network on numbers from a file, or on numbers that follow from their place: how long a run takes, and
// the hash of what comes out. One JSON line; --output writes the results as float32.
#include <fmt/core.h>
#include <hwy/targets.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/hash.h"
#include "podere/base/memory.h"
#include "podere/graph/plan.h"

namespace {

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Arguments {
  std::string model;
  podere::graph::Shape shape;
  std::vector<std::string> outputs;
  int n_threads = 1;
  int n_runs = 1;
  std::string input;
  std::string output;
  std::string target;
};

void use_target(const std::string& name) {
  if (name.empty()) return;
  for (const std::int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SSE4, HWY_SSSE3, HWY_NEON}) {
    if (hwy::TargetName(target) == name && (hwy::SupportedTargets() & target) != 0)
      return hwy::SetSupportedTargetsForTest(target);
  }
  podere::throw_input_error("this machine does not have {}", name);
}

void measure(const Arguments& arguments) {
  use_target(arguments.target);
  const double start = seconds();
  podere::graph::PlanOptions options;
  options.input = arguments.shape;
  options.outputs = arguments.outputs;
  const podere::graph::Plan plan(podere::graph::read_onnx(arguments.model), options);
  podere::graph::Workspace workspace(plan, arguments.n_threads);
  const double loading = seconds() - start;

  std::size_t n = 1;
  for (const std::int64_t size : arguments.shape) n *= static_cast<std::size_t>(size);
  std::vector<float> input(n);
  if (arguments.input.empty()) {
    for (std::size_t i = 0; i < n; ++i) {
      input[i] = static_cast<float>(2 * podere::uniform01(podere::hash64(1, 0, i)) - 1);
    }
  } else {
    std::ifstream stream(arguments.input, std::ios::binary);
    if (!stream.read(reinterpret_cast<char*>(input.data()), static_cast<std::streamsize>(n * sizeof(float))))
      podere::throw_input_error("{} has fewer than {} numbers", arguments.input, n);
  }
  std::vector<std::vector<float>> results;
  std::vector<std::span<float>> spans;
  for (const auto& output : plan.outputs()) {
    std::size_t size = 1;
    for (const std::int64_t dimension : output.shape) size *= static_cast<std::size_t>(dimension);
    results.emplace_back(size);
  }
  for (auto& result : results) spans.emplace_back(result);
  std::vector<double> times;
  std::vector<double> processor_times;
  for (int i = 0; i < arguments.n_runs + (arguments.n_runs > 1 ? 1 : 0); ++i) {
    const double begin = seconds();
    const double processor_begin = processor_seconds();
    podere::graph::run(plan, workspace, input, spans);
    times.push_back(seconds() - begin);
    processor_times.push_back(processor_seconds() - processor_begin);
  }
  const auto median = [](std::vector<double> values) {
    if (values.size() > 1) values.erase(values.begin());  // the first run warms up
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  std::uint64_t hash = 0;
  std::ofstream file;
  if (!arguments.output.empty()) file.open(arguments.output, std::ios::binary);
  for (const auto& result : results) {
    for (const float value : result) hash = podere::hash64(hash, 0, std::bit_cast<std::uint32_t>(value));
    file.write(reinterpret_cast<const char*>(result.data()),
               static_cast<std::streamsize>(result.size() * sizeof(float)));
  }
  fmt::print(
      "{{\"engine\": \"podere\", \"threads\": {}, \"shape\": \"{}\", \"seconds\": {:.6f}, \"processor_seconds\": "
      "{:.6f}, "
      "\"loading_seconds\": {:.3f}, \"weight_mb\": {:.1f}, \"workspace_mb\": {:.1f}, \"peak_mb\": {:.1f}, "
      "\"giga_multiply_adds\": {:.3f}, \"hash\": \"{:016x}\"}}\n",
      arguments.n_threads, podere::graph::to_text(arguments.shape), median(times), median(processor_times), loading,
      static_cast<double>(plan.weight_bytes()) * 1e-6, static_cast<double>(plan.workspace_bytes()) * 1e-6,
      static_cast<double>(podere::peak_memory_bytes()) * 1e-6, static_cast<double>(plan.multiply_adds()) * 1e-9, hash);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs an ONNX network");
  app.add_option("model", arguments.model)->required();
  app.add_option("--shape", arguments.shape, "of the input, with commas")->delimiter(',')->required();
  app.add_option("--outputs", arguments.outputs, "tensors to compute");
  app.add_option("--threads", arguments.n_threads);
  app.add_option("--runs", arguments.n_runs, "times are the median of these");
  app.add_option("--input", arguments.input, "a file of float32");
  app.add_option("--output", arguments.output, "a file for float32");
  app.add_option("--target", arguments.target, "AVX3, AVX2, SSE4, SSSE3 or NEON: that instruction set and no other");
  CLI11_PARSE(app, argc, argv);
  try {
    measure(arguments);
  } catch (const podere::InputError& error) {
    fmt::print(stderr, "graph_bench: {}\n", error.what());
    return 2;
  }
  return 0;
}
