#include "podere/neural/model.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "podere/base/base64.h"
#include "podere/base/checked_json.h"
#include "podere/base/error.h"
#include "podere/base/json.h"
#include "podere/neural/predict.h"
#include "podere/neural/test_training.h"

namespace podere::neural {
namespace {

const Model& some_model() {
  static const Model model = train_alone(random_table({.n_rows = 200, .loss = Loss::kCrossEntropy}, alone()),
                                         {.loss = Loss::kCrossEntropy,
                                          .hidden = {5, 17},
                                          .activation = Activation::kTanh,
                                          .optimizer = Optimizer::kAdamW,
                                          .epochs = 2,
                                          .schedule = Schedule::kCosine,
                                          .validation_fraction = 0.2,
                                          .seed = 18446744073709551615ULL});
  return model;
}

TEST(NetworkModelTest, ComesBackFromItsTextAsItWas) {
  const Model& model = some_model();
  const Model back = from_text(to_text(model), "m");
  EXPECT_EQ(back.schema, model.schema);
  EXPECT_EQ(back.options, model.options);
  EXPECT_EQ(back.scaling, model.scaling);
  EXPECT_EQ(back.weights, model.weights);
  EXPECT_EQ(back.history, model.history);
  EXPECT_EQ(to_text(back), to_text(model));
}

TEST(NetworkModelTest, ScalesOfNumbersAreInTheFileAndFilesWithoutThemAreReadAsBefore) {
  const Model model =
      train_alone(random_table({.n_rows = 200, .loss = Loss::kSquaredError}, alone()),
                  {.loss = Loss::kSquaredError, .hidden = {5}, .optimizer = Optimizer::kLbfgs, .epochs = 2});
  ASSERT_NE(model.target, TargetScaling());
  EXPECT_EQ(from_text(to_text(model), "m").target, model.target);
  Json file = Json::parse(to_text(model));
  EXPECT_EQ(file.at("version"), 2) << "earlier programs would predict scaled numbers";
  EXPECT_EQ(Json::parse(to_text(some_model())).at("version"), 1);

  // As written before.
  Json content = file.at("model");
  content.erase("target_scaling");
  content.at("options").erase("standardize_target");
  const Model old = from_text(checked_json_text({"podere-network", "a network", 1}, 1, content), "m");
  EXPECT_EQ(old.target, TargetScaling());
  EXPECT_FALSE(old.options.standardize_target);
  EXPECT_EQ(old.weights, model.weights);
  const table::Table rows = random_table({.n_rows = 10, .seed = 3}, alone());
  const std::vector<float> of_old = predict(old, rows, 1);
  const std::vector<float> of_new = predict(model, rows, 1);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(of_new[i], static_cast<float>(of_old[i] * model.target.scale + model.target.mean));
  }
}

TEST(NetworkModelTest, HoldsItsWeightsAsTheHeaderSays) {
  const Model& model = some_model();
  const Json content = Json::parse(to_text(model)).at("model");
  const auto bytes = from_base64(content.at("weights").get<std::string>());
  // 6 inputs and a bias for 5 units, these and a bias for 17, these and a bias for 3 classes.
  ASSERT_EQ(bytes.size(), sizeof(float) * (7 * 5 + 6 * 17 + 18 * 3));
  std::vector<float> weights(bytes.size() / sizeof(float));
  std::memcpy(weights.data(), bytes.data(), bytes.size());
  EXPECT_EQ(weights[0], model.weights[0]);
  EXPECT_EQ(weights[7], model.weights[model.layout.layer(0).stride()]);
  EXPECT_EQ(weights[7 * 5], model.weights[model.layout.layer(1).offset]);
}

TEST(NetworkModelTest, TextThatWasCutOrAlteredIsRefused) {
  const std::string text = to_text(some_model());
  for (std::size_t n = 0; n + 1 < text.size(); n += 1 + text.size() / 97) {
    EXPECT_THROW(from_text(text.substr(0, n), "m"), InputError) << n;
  }
  for (std::size_t i = 0; i + 1 < text.size(); i += 1 + text.size() / 997) {
    std::string altered = text;
    altered[i] = altered[i] == '7' ? '8' : '7';
    try {
      // A last digit of a number may be one that makes no other number.
      EXPECT_EQ(to_text(from_text(altered, "m")), text) << "at " << i;
    } catch (const InputError&) {
    }
  }
}

TEST(NetworkModelTest, AMissingPartIsNamed) {
  Json file = Json::parse(to_text(some_model()));
  file.erase("checksum");
  try {
    from_text(file.dump(), "m");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "m: is not a whole model file (key 'checksum' not found)");
  }
}

/// The text of a model whose content was changed by one who knows how to write checksums.
std::string forged(const std::function<void(Json&)>& change) {
  Json content = Json::parse(to_text(some_model())).at("model");
  change(content);
  return checked_json_text({"podere-network", "a network", 1}, 1, content);
}

TEST(NetworkModelTest, ContentThatCannotBeIsRefused) {
  EXPECT_NO_THROW(from_text(forged([](Json&) {}), "m"));
  const std::vector<std::function<void(Json&)>> changes = {
      [](Json& c) { c.erase("weights"); },
      [](Json& c) { c["weights"] = 3; },
      [](Json& c) { c["weights"] = "abc"; },
      [](Json& c) { c["weights"] = to_base64(std::vector<std::byte>(4 * (35 + 102 + 54) - 4)); },
      [](Json& c) { c["weights"] = to_base64(std::vector<std::byte>(4 * (35 + 102 + 54), std::byte{0xff})); },  // NaN
      [](Json& c) { c["scaling"]["mean"].push_back(1); },
      [](Json& c) { c["scaling"]["scale"][0] = 0; },
      [](Json& c) { c["scaling"]["scale"][0] = nullptr; },
      [](Json& c) {
        c["options"]["hidden"] = Json::array({5, 18});
      },
      [](Json& c) {
        c["options"]["hidden"] = Json::array({5, 17.5});
      },
      [](Json& c) {
        c["options"]["hidden"] = Json::array({0, 17});
      },
      [](Json& c) { c["options"]["hidden"] = Json::array({4097}); },
      [](Json& c) { c["options"]["hidden"] = std::vector<int>(64, 4096); },  // beyond kMaxWeights
      [](Json& c) { c["options"]["hidden"] = "5,17"; },
      [](Json& c) { c["options"]["n_classes"] = 0; },
      [](Json& c) { c["options"]["n_classes"] = 4; },
      [](Json& c) { c["options"]["loss"] = "hinge"; },
      [](Json& c) { c["options"]["activation"] = 1; },
      [](Json& c) { c["schema"]["features"] = Json::array(); },
      [](Json& c) { c["schema"]["features"][0] = c["schema"]["features"][1]; },
      [](Json& c) { c["schema"]["features"].push_back("more"); },
      [](Json& c) {
        c["schema"]["categories"] = {{{"feature", 0}, {"texts", nullptr}}};
      },
      [](Json& c) { c["history"]["train_loss"] = "low"; },
      [](Json& c) { c["options"] = nullptr; },
      [](Json& c) { c["options"] = Json::array(); },
      [](Json& c) { c = Json::array({1}); },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) EXPECT_THROW(from_text(forged(changes[i]), "m"), InputError) << i;
}

TEST(NetworkModelTest, OtherFilesAreRecognized) {
  EXPECT_TRUE(is_network_text(to_text(some_model())));
  const std::string spaced = Json::parse(to_text(some_model())).dump(2);
  EXPECT_TRUE(is_network_text(spaced));
  EXPECT_EQ(to_text(from_text(spaced, "m")), to_text(some_model()));
  EXPECT_FALSE(is_network_text("{\"format\":\"podere-gbt\",\"version\":1}"));
  try {
    from_text("{\"format\":\"podere-gbt\"}", "trees.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "trees.json: is not a network (no format \"podere-network\")");
  }
  EXPECT_THROW(checkpoint_from_text(to_text(some_model()), "m"), InputError);
}

TEST(NetworkModelTest, PredictionNeedsTheModelsFeatures) {
  table::Table other = random_table({.n_rows = 10, .n_features = 5}, alone());
  EXPECT_THROW(predict(some_model(), other, 1), InputError);
}

}  // namespace
}  // namespace podere::neural
