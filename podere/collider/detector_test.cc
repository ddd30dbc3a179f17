#include "podere/collider/detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace podere::collider {
namespace {

template <typename Check>
void for_selected(int n, Check check) {
  RandomSequence random(5, 0, 0);
  for (int i = 0; i < n; ++i) {
    const auto seen = observe(random, i % 2 ? draw_signal(random) : draw_background(random));
    if (seen) check(*seen);
  }
}

TEST(Observe, KeepsTheCutsOfThePaper) {
  int n = 0;
  for_selected(20'000, [&](const Observation& seen) {
    ++n;
    EXPECT_GT(seen.lepton.pt(), 20);
    EXPECT_LT(std::abs(seen.lepton.eta()), 2.5);
    ASSERT_GE(seen.n_jets, 4u);
    for (std::size_t i = 0; i < seen.n_jets; ++i) {
      EXPECT_GT(seen.jets[i].pt, 20);
      EXPECT_LT(std::abs(seen.jets[i].eta), 2.5);
    }
  });
  EXPECT_GT(n, 6000);  // cheap: more than one in three is kept
}

TEST(Observe, TagsExactlyTwoJetsWithinTheTrackerAndMostAreBottom) {
  double tags = 0, bottoms = 0;
  for_selected(20'000, [&](const Observation& seen) {
    int n = 0;
    for (std::size_t i = 0; i < seen.n_jets; ++i) {
      if (seen.jets[i].tag == 0) continue;
      ++n;
      bottoms += seen.jets[i].flavor == Flavor::kBottom;
      EXPECT_LE(std::abs(seen.jets[i].eta), 1.5);
    }
    EXPECT_EQ(n, 2);
    tags += n;
  });
  EXPECT_GT(bottoms / tags, 0.7);
}

TEST(Observe, OrdersJetsByRawMomentum) {
  for_selected(5'000, [](const Observation& seen) {
    for (std::size_t i = 1; i < seen.n_jets; ++i) EXPECT_GE(seen.jets[i - 1].raw_pt, seen.jets[i].raw_pt);
  });
}

TEST(Observe, RefusesALeptonOutsideTheAcceptance) {
  RandomSequence random(6, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    Collision collision = draw_signal(random);
    collision.lepton = massless(100, std::sinh(2.6), {0, 1});
    EXPECT_FALSE(observe(random, collision));
    collision.lepton = massless(15, 0, {0, 1});
    EXPECT_FALSE(observe(random, collision));
  }
}

TEST(Observe, JoinsPartonsThatFlyTogether) {
  RandomSequence random(7, 0, 0);
  Collision collision;
  collision.lepton = massless(50, 0, {0, 1});
  collision.n_partons = 5;
  const std::array<double, 5> turns{0.0, 0.01, 0.3, 0.5, 0.7};  // the first two are one jet
  for (std::size_t i = 0; i < 5; ++i) {
    collision.partons[i] = {massless(80, 0.1, sine_cosine_of_turns(turns[i])), Flavor::kBottom};
  }
  int n = 0;
  for (int i = 0; i < 200; ++i) {
    const auto seen = observe(random, collision);
    if (!seen) continue;
    ++n;
    EXPECT_EQ(seen->n_jets, 4u);
  }
  EXPECT_GT(n, 10);
}

}  // namespace
}  // namespace podere::collider
