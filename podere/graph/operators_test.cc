// Every operator against the ONNX project's own tests: tests/data/graph/operators.bin, which make_operators.py there
// describes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "podere/base/error.h"
#include "podere/graph/graph.h"
#include "podere/graph/test_graph.h"

namespace podere::graph {
namespace {

TEST(GraphOperators, ComputeWhatOnnxSaysTheyDo) {
  std::ifstream stream(PODERE_TEST_DATA "/graph/operators.bin", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(stream), {}};
  std::size_t n_cases = 0;
  for (std::size_t at = 0; at + 4 <= all.size(); ++n_cases) {
    std::uint32_t n_bytes = 0;
    std::memcpy(&n_bytes, all.data() + at, 4);
    const std::string bytes = all.substr(at + 4, n_bytes);
    at += 4 + n_bytes;
    onnx::ModelProto model;
    ASSERT_TRUE(model.ParseFromString(bytes));
    SCOPED_TRACE(model.graph().name());
    try {
      // One case has its numbers to four places.
      const double tolerance = model.graph().name().ends_with("ceil_last_window_starts_on_pad") ? 1e-4 : 1e-5;
      const Network network = read_onnx(bytes, model.graph().name());
      const Tensor& input = *network.graph().weights.at("podere_input");
      const Tensor& expected = *network.graph().weights.at("podere_expected");
      PlanOptions options;
      options.input = input.shape;
      const Plan plan(network, options);
      ASSERT_EQ(plan.outputs().at(0).shape, expected.shape);
      const std::vector<float> result = result_of(network, options, input.floats);
      for (std::size_t i = 0; i < result.size(); ++i) {
        if (std::isnan(expected.floats[i]) && std::isnan(result[i])) continue;
        ASSERT_NEAR(result[i], expected.floats[i], tolerance + 1e-5 * std::abs(expected.floats[i])) << "at " << i;
      }
    } catch (const InputError& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(n_cases, 260U);
}

}  // namespace
}  // namespace podere::graph
