// libFuzzer program of networks from ONNX files: what is read is planned for a small picture and run. Anything but an
// InputError ends the program.
#include <cstdint>
#include <cstdlib>

#include "podere/base/error.h"
#include "podere/graph/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n_bytes) {
  if (n_bytes > 1 << 14) return 0;
  try {
    const auto network =
        podere::graph::read_onnx(std::string_view(reinterpret_cast<const char*>(bytes), n_bytes), "fuzz.onnx");
    if (network.inputs().empty()) return 0;
    podere::graph::PlanOptions options;
    options.memory_limit = std::size_t{16} << 20;
    options.input = network.inputs().front().shape;
    std::size_t n = 1;
    for (auto& size : options.input) {
      if (size < 0) size = 4;
      if (size > 64) return 0;
      n *= static_cast<std::size_t>(size);
      if (n > 1 << 14) return 0;
    }
    const podere::graph::Plan plan(network, options);
    if (plan.multiply_adds() > 10'000'000) return 0;
    podere::graph::Workspace workspace(plan);
    std::vector<std::vector<float>> results;
    std::vector<std::span<float>> outputs;
    for (const auto& output : plan.outputs()) {
      std::size_t size = 1;
      for (const auto dimension : output.shape) size *= static_cast<std::size_t>(dimension);
      results.emplace_back(size);
    }
    for (auto& result : results) outputs.emplace_back(result);
    podere::graph::run(plan, workspace, std::vector<float>(n, 0.5F), outputs);
  } catch (const podere::InputError&) {
    return 0;
  }
  return 0;
}
