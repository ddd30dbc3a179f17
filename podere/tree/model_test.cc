#include "podere/tree/model.h"

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <functional>

#include "podere/algorithm/model_file.h"
#include "podere/base/error.h"
#include "podere/base/json.h"

namespace podere::tree {
namespace {

Model small_model() {
  Model model;
  model.schema = {.features = {"a", "b"}, .label = "y", .weight = std::nullopt};
  model.options.n_trees = 2;
  model.base_margin = {0.1};
  model.trees = {Tree{{{.threshold = 0.1F, .feature = 1, .left = 1, .missing_left = true, .gain = 3, .cover = 5},
                       {.value = -0.25F, .cover = 2},
                       {.value = 1e-30F, .cover = 3}}},
                 Tree{{{.value = 0.5F, .cover = 5}}}};
  model.options.class_weight = {1, 2.5};
  model.options.base_score = 0.25;
  model.history = {.train_loss = {0.6, 0.5}, .validation_loss = {}};
  return model;
}

/// The message of the InputError that from_text throws.
std::string refusal(const std::string& text) {
  try {
    from_text(text, "m.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// small_model() changed, with a checksum that fits.
std::string refusal_of(const std::function<void(Model&)>& change) {
  Model model = small_model();
  change(model);
  return refusal(to_text(model));
}

TEST(ModelTest, AFileReadBackIsTheSameModel) {
  Model model = small_model();
  EXPECT_EQ(to_text(model).find("\"rows\""), std::string::npos);
  model.rows = table::DataFingerprint{12, (std::uint64_t{1} << 53U) - 1};  // as of a checkpoint
  const Model read = from_text(to_text(model), "m.json");
  EXPECT_EQ(read.schema, model.schema);
  EXPECT_EQ(read.base_margin, model.base_margin);
  EXPECT_EQ(read.trees, model.trees);
  EXPECT_EQ(read.history, model.history);
  EXPECT_EQ(read.rows, model.rows);
  EXPECT_EQ(to_text(read), to_text(model));
}

TEST(ModelTest, EveryCutIsRefused) {
  const std::string text = to_text(small_model());
  for (std::size_t n = 0; n + 2 < text.size(); ++n) EXPECT_NE(refusal(text.substr(0, n)), "accepted") << n;
}

TEST(ModelTest, EveryAlteredDigitIsRefused) {
  const std::string text = to_text(small_model());
  for (std::size_t i = text.find("\"checksum\""); i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '8') continue;
    std::string altered = text;
    ++altered[i];
    EXPECT_NE(refusal(altered), "accepted") << altered;
  }
}

TEST(ModelTest, ANewerVersionIsNamed) {
  std::string text = to_text(small_model());
  text.replace(text.find("\"version\":1"), 11, "\"version\":7");
  EXPECT_EQ(refusal(text), "m.json: was written by a newer Podere (version 7 of the format; this one reads up to 3)");
}

TEST(ModelTest, OtherJsonIsRefused) {
  for (const char* text : {"", "{}", "[]", "null", "7", "{\"format\":\"podere-gbt\"}", "{\"format\":7}",
                           "{\"format\":\"podere-gbt\",\"version\":\"x\"}", "{\"format\":\"podere-gbt\",\"version\":0}",
                           "{\"format\":\"podere-gbt\",\"version\":1,\"model\":3,\"checksum\":\"\"}"}) {
    EXPECT_EQ(refusal(text).substr(0, 8), "m.json: ") << text;
  }
}

TEST(ModelTest, TreesThatLeadOutOfBoundsAreRefused) {
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].left = 2; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].left = 0; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].left = -5; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].left = 2147483647; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].feature = 2; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[1].value = INFINITY; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes.clear(); }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.base_margin.clear(); }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.base_margin = {0, 0}; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.base_margin = {1e300}; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.trees[0].nodes[0].gain = INFINITY; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.schema.features.at(1) = ""; }), "accepted");
  EXPECT_NE(refusal_of([](Model& m) { m.schema.features.at(1) = m.schema.features.at(0); }), "accepted");
  EXPECT_EQ(refusal_of([](Model&) {}), "accepted");
}

TEST(ModelTest, DeepNestingIsRefused) {
  EXPECT_EQ(refusal(std::string(1'000'000, '[')), "m.json: is not a model file (nested too deeply)");
}

/// small_model() with the first `from` of its content replaced by `to`, and a checksum that fits.
std::string refusal_of_content(const std::string& from, const std::string& to) {
  auto file = Json::parse(to_text(small_model()));
  std::string content = file["model"].dump();
  content.replace(content.find(from), from.size(), to);
  file["model"] = Json::parse(content);
  const std::string text = file["model"].dump();
  file["checksum"] = fmt::format("{:08x}", crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size()));
  return refusal(file.dump());
}

TEST(ModelTest, NumbersOfAnotherKindAreRefused) {
  for (const char* number : {"4294967297", "1.5", "true", "null", "\"1\"", "1e300"}) {
    EXPECT_EQ(refusal_of_content("\"left\":[1", fmt::format("\"left\":[{}", number)).substr(0, 18),
              "m.json: left must ");
  }
  EXPECT_EQ(refusal_of_content("\"seed\":0", "\"seed\":-1"),
            "m.json: seed must be from 0 to 18446744073709551615, it is -1");
  EXPECT_EQ(refusal_of_content("\"n_trees\":2", "\"n_trees\":4294967298").substr(0, 21), "m.json: n_trees must ");
  EXPECT_EQ(refusal_of_content("\"left\":[1", "\"left\":[1"), "accepted");
}

TEST(ModelTest, WhatIsNoFileIsNotReadAsAModel) {
  EXPECT_THROW(load_model("/dev/zero"), InputError);
  EXPECT_THROW(load_model("/tmp"), InputError);
}

TEST(ModelTest, DataInPlaceOfAModelAreRefusedBeforeTheyAreRead) {
  for (const char* const text : {"y,a\n1,2\n", "0.5\n", "\x1f\x8b", ""}) {
    const auto path = std::filesystem::temp_directory_path() / ("podere-model-test-" + std::to_string(getpid()));
    std::ofstream(path) << text;
    try {
      algorithm::read_model_text(path);
      ADD_FAILURE() << "read: " << text;
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(), path.string() + ": is not a Podere model; if it is the data, name the model before it" +
                                  "; podere convert makes one of a model of XGBoost or LightGBM");
    }
    std::filesystem::remove(path);
  }
}

TEST(ModelTest, AFileThatIsNotThereIsNamed) {
  try {
    load_model("/nowhere/m.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "/nowhere/m.json: cannot be read: No such file or directory");
  }
}

/// Splits feature "b", whose categories are four texts, by {1, 3}.
Model categorical_model() {
  Model model = small_model();
  model.schema.categories = {{1, std::vector<std::string>{"", "blue", "gr\"\xc3\xbc\"n", "red"}}};
  model.trees[0].category_sets = {{1, 3}};
  model.trees[0].nodes[0].category_set = 0;
  model.trees[0].nodes[0].threshold = 0;
  return model;
}

TEST(ModelTest, CategoriesAreReadBackAndRaiseTheVersion) {
  Model model = categorical_model();
  model.schema.categories[0] = std::nullopt;  // codes
  const std::string text = to_text(model);
  EXPECT_NE(text.find("\"version\":2"), std::string::npos);
  const Model read = from_text(text, "m.json");
  EXPECT_EQ(read.schema, model.schema);
  EXPECT_EQ(read.trees, model.trees);
  EXPECT_EQ(to_text(read), text);
}

/// small_model, of which the last node is a leaf that is linear in feature 0.
Model linear_model() {
  Model model = small_model();
  Tree& tree = model.trees[0];
  tree.nodes.back().linear_part = 0;
  tree.linear_parts = {{.constant = 0.1, .features = {0}, .coefficients = {-2.5}}};
  return model;
}

TEST(ModelTest, LinearPartsAreReadBackAndRaiseTheVersion) {
  const Model model = linear_model();
  const std::string text = to_text(model);
  EXPECT_NE(text.find("\"version\":3"), std::string::npos);
  const Model read = from_text(text, "m.json");
  EXPECT_EQ(read.trees, model.trees);
  EXPECT_EQ(to_text(read), text);
}

TEST(ModelTest, LinearPartsThatDoNotFitAreRefused) {
  const auto refusal_of_part = [](const std::function<void(Tree&)>& change) {
    Model model = linear_model();
    change(model.trees[0]);
    return refusal(to_text(model));
  };
  const std::string place = "m.json: a node's linear part is not in its tree, or the node is not a leaf";
  EXPECT_EQ(refusal_of_part([](Tree&) {}), "accepted");
  EXPECT_EQ(refusal_of_part([](Tree& t) { t.nodes.back().linear_part = 1; }), place);
  EXPECT_EQ(refusal_of_part([](Tree& t) { t.nodes.front().linear_part = 0; }), place);
  EXPECT_EQ(refusal_of_part([](Tree& t) { t.linear_parts[0].features = {7}; }),
            "m.json: a leaf's linear part has feature 7, which is not a numeric one of the schema");
  EXPECT_EQ(refusal_of_part([](Tree& t) { t.linear_parts[0].features = {-1}; }),
            "m.json: a leaf's linear part has feature -1, which is not a numeric one of the schema");
  EXPECT_EQ(refusal_of_part([](Tree& t) { t.linear_parts[0].coefficients.clear(); }),
            "m.json: a leaf's linear part has 0 coefficients for 1 features");
  Model of_categories = categorical_model();
  of_categories.trees[0].nodes.back().linear_part = 0;
  of_categories.trees[0].linear_parts = {{.constant = 0, .features = {1}, .coefficients = {1}}};
  EXPECT_EQ(refusal(to_text(of_categories)),
            "m.json: a leaf's linear part has feature 1, which is not a numeric one of the schema");
}

TEST(ModelTest, CategoriesThatDoNotFitAreRefused) {
  const auto refusal_of_categories = [](const std::function<void(Model&)>& change) {
    Model model = categorical_model();
    change(model);
    return refusal(to_text(model));
  };
  const std::string codes = "m.json: a category set has codes that do not rise or that its feature does not have";
  const std::string kind = "m.json: a node splits categories by a threshold, or numbers by categories";
  const std::string texts = "m.json: the texts of a feature's categories are not sorted, or too many";
  const auto set = [](std::vector<std::int32_t> of) {
    return [of = std::move(of)](Model& m) { m.trees[0].category_sets = {of}; };
  };
  for (const auto& wrong : {set({3, 1}), set({1, 1}), set({-1, 1}), set({1, 4})}) {
    EXPECT_EQ(refusal_of_categories(wrong), codes);
  }
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.schema.categories = {{1, std::nullopt}}; }), "accepted");
  EXPECT_EQ(refusal_of_categories([](Model& m) {
              m.schema.categories = {{1, std::nullopt}};
              m.trees[0].category_sets = {{1 << 24}};
            }),
            codes);
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.schema.categories.clear(); }), kind);
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.trees[0].nodes[0].category_set = -1; }), kind);
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.trees[0].nodes[0].feature = 0; }), kind);
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.trees[0].nodes[0].category_set = 1; }),
            "m.json: a node's category set is not in its tree");
  EXPECT_EQ(refusal_of_categories([](Model& m) { m.schema.categories[2] = {{"x"}}; }),
            "m.json: there are categories of a feature that is not there");
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"b", "a", "c", "d"}, {"a", "a", "b", "c"}}) {
    EXPECT_EQ(refusal_of_categories([&](Model& m) { m.schema.categories[1] = wrong; }), texts);
  }
  EXPECT_EQ(refusal_of_categories([](Model&) {}), "accepted");
}

TEST(ModelTest, ACategoryGoesRightIfItsSetHoldsIt) {
  const Tree tree = categorical_model().trees[0];
  const auto is_left = [&](float value) { return goes_left(tree, tree.nodes[0], value); };
  EXPECT_TRUE(is_left(0) && is_left(2) && is_left(4) && is_left(NAN));
  EXPECT_FALSE(is_left(1) || is_left(3));
  EXPECT_TRUE(is_left(1.5F) && is_left(-1) && is_left(1e30F) && is_left(INFINITY)) << "these are no categories";
}

TEST(ModelTest, ImportanceAddsUpSplitsByFeature) {
  const Importance result = importance(small_model());
  EXPECT_EQ(result.gain, (std::vector<double>{0, 3}));
  EXPECT_EQ(result.split, (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(result.cover, (std::vector<double>{0, 5}));
}

}  // namespace
}  // namespace podere::tree
