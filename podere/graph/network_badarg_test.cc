// Files and shapes that are refused, each in one line that names what is wrong.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "podere/base/error.h"
#include "podere/base/temporary_folder.h"
#include "podere/graph/test_graph.h"

namespace podere::graph {
namespace {

template <typename F>
std::string message_of(const F& function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

std::string plan_message(const TestGraph& g, const Shape& input, const std::vector<std::string>& outputs = {}) {
  return message_of([&] {
    PlanOptions options;
    options.input = input;
    options.outputs = outputs;
    const Plan plan(g.network(), options);
  });
}
std::string read_message(const TestGraph& g) {
  return message_of([&] { g.network(); });
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TestGraph small() {
  TestGraph g({-1, 3, 8, 8});
  g.convolution("x", "a", 3, 4, 3, 1);
  g.node("Relu", {"a"}, "y");
  return g;
}

TEST(GraphBadInput, TextIsNoOnnxFile) {
  EXPECT_SAYS(message_of([] { read_onnx(std::string("hello"), "a.onnx"); }), "'a.onnx' is no ONNX file");
  EXPECT_SAYS(message_of([] { read_onnx(std::string(), "a.onnx"); }), "'a.onnx' is no ONNX file");
  EXPECT_SAYS(message_of([] { read_onnx(std::filesystem::path("/nowhere/a.onnx")); }), "cannot be read");
}

TEST(GraphBadInput, FilesThatAreCutOffAreRefused) {
  const std::string bytes = small().bytes();
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    EXPECT_NE(message_of([&] {
                PlanOptions options;
                options.input = {1, 3, 8, 8};
                const Plan plan(read_onnx(std::string_view(bytes).substr(0, n), "a.onnx"), options);
              }),
              "nothing was refused")
        << n;
  }
}

TEST(GraphBadInput, OperatorsThatAreLackingAreNamed) {
  TestGraph g({1, 3, 8, 8});
  g.node("NonMaxSuppression", {"x"}, "y").set_name("detect");
  EXPECT_SAYS(plan_message(g, {1, 3, 8, 8}), "NonMaxSuppression 'detect': Podere does not have this operator");
  g.model.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  EXPECT_SAYS(plan_message(g, {1, 3, 8, 8}), "com.microsoft.NonMaxSuppression 'detect'");
}

TEST(GraphBadInput, OpsetsThatAreTooOldOrNewAreRefused) {
  EXPECT_SAYS(read_message(TestGraph({1}, 8)), "opset 8");
  EXPECT_SAYS(read_message(TestGraph({1}, 99)), "opset 99");
}

TEST(GraphBadInput, ShapesThatDoNotFitAreNamed) {
  EXPECT_SAYS(plan_message(small(), {1, 1, 8, 8}), "input 'x' has the shape ? x 3 x 8 x 8, not 1 x 1 x 8 x 8");
  EXPECT_SAYS(plan_message(small(), {1, 3, 8}), "not 1 x 3 x 8");
  EXPECT_SAYS(plan_message(small(), {0, 3, 8, 8}), "has no elements");
  TestGraph g({-1, -1, -1, -1});
  g.convolution("x", "y", 3, 4, 3, 1);
  EXPECT_SAYS(plan_message(g, {1, 5, 8, 8}), "weights of the shape 4 x 3 x 3 x 3 in 1 groups do not fit");
}

TEST(GraphBadInput, AWindowLargerThanThePictureIsRefused) {
  TestGraph g({1, 1, 4, 4});
  TestGraph::set(g.node("MaxPool", {"x"}, "y"), "kernel_shape", {5, 5});
  EXPECT_SAYS(plan_message(g, {1, 1, 4, 4}), "its window of 5 is larger than the input of 4");
}

TEST(GraphBadInput, AttributesOutOfRangeAreNamed) {
  for (const std::int64_t stride : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 40}) {
    TestGraph g({1, 1, 4, 4});
    auto& pool = g.node("MaxPool", {"x"}, "y");
    TestGraph::set(pool, "kernel_shape", {2, 2});
    TestGraph::set(pool, "strides", {stride, 1});
    EXPECT_SAYS(plan_message(g, {1, 1, 4, 4}), "the attribute 'strides' is");
  }
}

TEST(GraphBadInput, CirclesAndMissingTensorsAreRefused) {
  TestGraph circle({1, 4});
  circle.node("Add", {"x", "b"}, "a");
  circle.node("Relu", {"a"}, "b");
  circle.node("Relu", {"b"}, "y");
  EXPECT_SAYS(read_message(circle), "takes the tensor 'b', which is no input or weight");
  TestGraph missing({1, 4});
  missing.node("Relu", {"w"}, "y");
  EXPECT_SAYS(read_message(missing), "takes the tensor 'w'");
  TestGraph twice({1, 4});
  twice.node("Relu", {"x"}, "y");
  twice.node("Relu", {"x"}, "y");
  EXPECT_SAYS(read_message(twice), "the tensor 'y' is there twice");
}

TEST(GraphBadInput, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  TestGraph weight({1, 4});
  weight.weight("w", {std::int64_t{1} << 30, std::int64_t{1} << 9}, {1.0F});
  weight.node("MatMul", {"x", "w"}, "y");
  EXPECT_SAYS(read_message(weight), "but fewer values");
  TestGraph overflow({1, 4});
  overflow.weight("w", {std::int64_t{1} << 40, std::int64_t{1} << 40}, {});
  overflow.node("MatMul", {"x", "w"}, "y");
  EXPECT_SAYS(read_message(overflow), "elements are read");
  TestGraph constant({1, 4});
  constant.integers("n", {1 << 20, 1 << 20});
  constant.node("ConstantOfShape", {"n"}, "c");
  constant.node("Add", {"x", "c"}, "y");
  EXPECT_SAYS(plan_message(constant, {1, 4}), "ConstantOfShape 'c'");
  TestGraph expanded({1, 4});
  expanded.integers("n", {1 << 15, 1 << 15, 4});
  expanded.node("Expand", {"x", "n"}, "y");
  EXPECT_SAYS(plan_message(expanded, {1, 4}), "MB are allowed");
  EXPECT_SAYS(plan_message(small(), {1 << 24, 3, 8, 8}), "MB are allowed");
}

TEST(GraphBadInput, ConstantsToComputeWithAreRealNumbers) {
  for (const char* const type : {"ReduceL2", "Relu", "Softmax"}) {
    TestGraph empty({1, 4});
    empty.weight("w", {0}, {});
    empty.node(type, {"w"}, "r");
    empty.node("Add", {"x", "r"}, "y");
    EXPECT_SAYS(plan_message(empty, {1, 4}), "an input has no elements");
    TestGraph integers({1, 4});
    integers.weight("w", {4}, {1, 2, 3, 4});
    integers.integers("n", {1, 2, 3, 4});
    integers.node(type, {"n"}, "r");
    integers.node("Add", {"x", "r"}, "z");
    integers.node("Add", {"z", "w"}, "y");
    EXPECT_SAYS(plan_message(integers, {1, 4}), "it takes integers");
  }
}

TEST(GraphBadInput, WeightsOutsideTheFolderAreRefused) {
  const TemporaryFolder folder(testing::TempDir());
  const std::filesystem::path root = folder.path();
  std::filesystem::create_directories(root / "models" / "weights");
  const auto write = [](const std::filesystem::path& file, const std::string& bytes) {
    std::ofstream(file, std::ios::binary) << bytes;
  };
  write(root / "secret.bin", std::string(16, 'a'));
  write(root / "models" / "weights" / "w.bin", std::string(16, '\0'));
  std::filesystem::create_symlink(root / "secret.bin", root / "models" / "link.bin");
  const auto message = [&](const std::string& location, const std::string& offset, const std::string& length) {
    TestGraph g({1, 4});
    auto& tensor = g.weight("w", {4}, {});
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"location", location}, {"offset", offset}, {"length", length}}) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
    g.node("Add", {"x", "w"}, "y");
    write(root / "models" / "m.onnx", g.bytes());
    return message_of([&] { read_onnx(root / "models" / "m.onnx"); });
  };
  EXPECT_EQ(message("weights/w.bin", "0", "16"), "nothing was refused");
  const auto digits = [&] {
    return sha256_of_network(root / "models" / "m.onnx", read_onnx(root / "models" / "m.onnx"));
  };
  const std::string before = digits();
  EXPECT_EQ(before.size(), 64U);
  write(root / "models" / "weights" / "w.bin", std::string(15, '\0') + "?");
  EXPECT_NE(digits(), before);
  EXPECT_SAYS(message("../secret.bin", "0", "16"), "outside the model's folder");
  EXPECT_SAYS(message((root / "secret.bin").string(), "0", "16"), "outside the model's folder");
  EXPECT_SAYS(message("link.bin", "0", "16"), "outside the model's folder");
  EXPECT_SAYS(message("weights/none.bin", "0", "16"), "no file that can be read");
  EXPECT_SAYS(message("weights", "0", "16"), "no file that can be read");
  EXPECT_SAYS(message("weights/w.bin", "8", "16"), "has 16 bytes, the tensor lies at 8 to 24");
  EXPECT_SAYS(message("weights/w.bin", "0", "12"), "needs 16 bytes");
  EXPECT_SAYS(message("weights/w.bin", "-4", "16"), "has the offset '-4'");
}

TEST(GraphBadInput, TensorsThatAreNotThereAreNamedWithTheNearest) {
  EXPECT_SAYS(plan_message(small(), {1, 3, 8, 8}, {"a.sumz"}), "no tensor 'a.sumz': did you mean 'a.sums'?");
  EXPECT_SAYS(plan_message(small(), {1, 3, 8, 8}, {"a.w"}), "is a weight");
}

TEST(GraphBadInput, NumbersOfInputAndOutputsAreChecked) {
  PlanOptions options;
  options.input = {1, 3, 8, 8};
  const Plan plan(small().network(), options);
  Workspace workspace(plan);
  std::vector<float> result(4 * 64);
  const std::vector<std::span<float>> outputs = {result};
  EXPECT_SAYS(message_of([&] { run(plan, workspace, std::vector<float>(191), outputs); }), "the input has 191 numbers");
}

TEST(GraphNetwork, ShowsInputsOutputsAndFacts) {
  TestGraph g = small();
  g.model.set_producer_name("pytorch");
  g.model.set_producer_version("2.1");
  const Network network = g.network();
  ASSERT_EQ(network.inputs().size(), 1U);
  EXPECT_EQ(network.inputs()[0].name, "x");
  EXPECT_EQ(to_text(network.inputs()[0].shape), "? x 3 x 8 x 8");
  EXPECT_EQ(network.outputs()[0].name, "y");
  EXPECT_EQ(network.facts().producer, "pytorch 2.1");
  EXPECT_EQ(network.facts().opset, 17);
  EXPECT_EQ(network.facts().n_operators, 3U);
  EXPECT_EQ(network.facts().n_parameters, 4U * 27 + 4 * 4);
}

TEST(GraphNetwork, ReadsWeightsOfHalfPrecision) {
  TestGraph g({1, 4});
  auto& tensor = g.weight("w", {4}, {});
  tensor.set_data_type(onnx::TensorProto::FLOAT16);
  for (const int bits : {0x3C00, 0xC000, 0x0001, 0x7C00}) tensor.add_int32_data(bits);  // 1, -2, 2^-24, infinity
  g.node("Add", {"x", "w"}, "y");
  PlanOptions options;
  options.input = {1, 4};
  EXPECT_EQ(result_of(g.network(), options, {0, 0, 0, 0}),
            (std::vector<float>{1, -2, 0x1p-24F, std::numeric_limits<float>::infinity()}));
}

}  // namespace
}  // namespace podere::graph
