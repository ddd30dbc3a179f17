#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "podere/base/error.h"
#include "podere/base/test_numbers.h"
#include "podere/evaluate/classification.h"

namespace podere::evaluate {
namespace {

const std::vector<float> kTwo = {0.25F, 0.75F};
const std::vector<float> kLabels = {0, 1};

/// The message of the InputError that `call` throws.
std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BadArguments, LabelsOutsideTheClassesAreNamed) {
  const std::vector<std::int32_t> predicted = {0, 1};
  const std::vector<std::pair<float, std::string>> labels = {{2.0F, "a label is 2"},
                                                             {-1.0F, "a label is -1"},
                                                             {0.5F, "a label is 0.5"},
                                                             {kNaN, "a label is nan"},
                                                             {kInfinity, "a label is inf"}};
  for (const auto& [label, message] : labels) {
    const std::vector<float> bad = {0, label};
    const std::string expected = message + ": labels must be 0 or 1";
    EXPECT_EQ(refusal([&] { log_loss(comm::Communicator::self(), kTwo, bad, {}); }), expected);
    EXPECT_EQ(refusal([&] { auc(comm::Communicator::self(), kTwo, bad, {}); }), expected);
    EXPECT_EQ(refusal([&] { roc(comm::Communicator::self(), kTwo, bad, {}, 10); }), expected);
    EXPECT_EQ(refusal([&] { confusion_matrix(comm::Communicator::self(), predicted, 2, bad, {}); }), expected);
  }
  EXPECT_EQ(refusal([&] {
              multi_log_loss(comm::Communicator::self(), std::vector<float>(6, 0.3F), 3, std::vector{0.0F, 3.0F}, {});
            }),
            "a label is 3: labels must be whole numbers from 0 to 2");
}

TEST(BadArguments, LengthsThatDoNotFitAreNamed) {
  const std::vector<float> three(3, 0.5F);
  EXPECT_EQ(refusal([&] { log_loss(comm::Communicator::self(), three, kLabels, {}); }),
            "3 predictions were given for 2 labels");
  EXPECT_EQ(refusal([&] { auc(comm::Communicator::self(), three, kLabels, {}); }),
            "3 predictions were given for 2 labels");
  EXPECT_EQ(refusal([&] { auc(comm::Communicator::self(), kTwo, kLabels, three); }),
            "3 weights were given for 2 labels");
  EXPECT_EQ(refusal([&] { multi_log_loss(comm::Communicator::self(), three, 2, kLabels, {}); }),
            "3 probabilities were given for 2 labels of 2 classes");
  EXPECT_EQ(refusal([&] { multi_log_loss(comm::Communicator::self(), {}, 0, kLabels, {}); }),
            "0 probabilities were given for 2 labels of 0 classes");
  EXPECT_EQ(refusal([&] { predicted_classes(three, 2, 2); }), "3 probabilities were given for 2 rows of 2 classes");
}

TEST(BadArguments, WeightsThatAreNotFiniteAreRefused) {
  for (const float weight : {kNaN, kInfinity, -kInfinity}) {
    const std::vector<float> weights = {1, weight};
    EXPECT_NE(
        refusal([&] { log_loss(comm::Communicator::self(), kTwo, kLabels, weights); }).find("weights must be finite"),
        std::string::npos);
    EXPECT_NE(refusal([&] { auc(comm::Communicator::self(), kTwo, kLabels, weights); }).find("weights must be finite"),
              std::string::npos);
  }
}

TEST(BadArguments, ScoresThatAreNaNAreRefused) {
  const std::vector<float> scores = {kNaN, 1};
  EXPECT_EQ(refusal([&] { auc(comm::Communicator::self(), scores, kLabels, {}); }),
            "a score is NaN: scores must be numbers");
  EXPECT_EQ(refusal([&] { roc(comm::Communicator::self(), scores, kLabels, {}, 10); }),
            "a score is NaN: scores must be numbers");
}

TEST(BadArguments, ACurveNeedsTwoPoints) {
  EXPECT_EQ(refusal([&] { roc(comm::Communicator::self(), kTwo, kLabels, {}, 1); }),
            "a curve of 1 points was asked for: the least is 2");
}

TEST(BadArguments, PredictedClassesMustExist) {
  EXPECT_EQ(refusal([&] {
              confusion_matrix(comm::Communicator::self(), std::vector{0, 2}, 2, kLabels, {});
            }),
            "class 2 is predicted: there are 2 classes, from 0");
  EXPECT_EQ(refusal([&] {
              confusion_matrix(comm::Communicator::self(), std::vector{0, -1}, 2, kLabels, {});
            }),
            "class -1 is predicted: there are 2 classes, from 0");
  EXPECT_EQ(refusal([&] { confusion_matrix(comm::Communicator::self(), {}, 0, {}, {}); }),
            "there are no classes: the least number of classes is 1");
}

}  // namespace
}  // namespace podere::evaluate
