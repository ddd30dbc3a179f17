#include "podere/evaluate/history.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/base/json.h"

namespace podere::evaluate {
namespace {

TEST(HistoryTest, RoundsThatAreNotKeptAreLaterOnes) {
  History history{.train_loss = {5, 4, 3, 2}, .validation_loss = {6, 5, 7, 8}};
  history.keep(2);
  EXPECT_EQ(history, (History{{5, 4}, {6, 5}, {3, 2}, {7, 8}}));
  EXPECT_EQ(history_from_json(to_json(history)), history);
  History without{.train_loss = {5, 4}, .validation_loss = {}};
  without.keep(2);
  EXPECT_EQ(to_json(without).size(), 2U) << "files of models that were not cut are as before";
  EXPECT_EQ(history_from_json(to_json(without)), without);
}

TEST(HistoryTest, WhatIsNoNumberIsRefused) {
  EXPECT_THROW(history_from_json({{"train_loss", {"a"}}, {"validation_loss", Json::array()}}), InputError);
}

}  // namespace
}  // namespace podere::evaluate
