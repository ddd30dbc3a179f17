#include "podere/collider/kinematics.h"

#include <gtest/gtest.h>

namespace podere::collider {
namespace {

Particle moving(double mass, double x, double y, double z) {
  return {{std::sqrt(mass * mass + x * x + y * y + z * z), x, y, z}, mass};
}

TEST(FourVector, KnowsItsPseudorapidityAndAngle) {
  const FourVector v = massless(30, std::sinh(-1.7), {std::sin(2.5), std::cos(2.5)});
  EXPECT_NEAR(v.pt(), 30, 1e-9);
  EXPECT_NEAR(v.eta(), -1.7, 1e-9);
  EXPECT_NEAR(v.phi(), 2.5, 1e-9);
  EXPECT_NEAR(v.mass(), 0, 1e-5);
}

TEST(FourVector, BoostKeepsProductsAndMovesRestToTheParent) {
  const Particle parent = moving(173, 40, -70, 300);
  const FourVector a{60, 10, 20, -30};
  const FourVector b{80, -5, 7, 11};
  EXPECT_NEAR(dot(boosted(a, parent.momentum, 173), boosted(b, parent.momentum, 173)), dot(a, b), 1e-8);
  const FourVector rest = boosted({173, 0, 0, 0}, parent.momentum, 173);
  EXPECT_NEAR((rest - parent.momentum).e, 0, 1e-9);
  EXPECT_NEAR(rest.z, 300, 1e-9);
}

TEST(Decay, KeepsEnergyAndMomentumAndGivesTheMassesBack) {
  RandomSequence random(1, 0, 0);
  for (int i = 0; i < 1000; ++i) {
    const Particle top = moving(172, 50, 20 - i, 3.0 * i);
    const auto [w, b] = decay(random, top, 80, 4.18);
    const FourVector lost = top.momentum - (w.momentum + b.momentum);
    for (const double component : {lost.e, lost.x, lost.y, lost.z}) EXPECT_NEAR(component, 0, 1e-8);
    EXPECT_NEAR(w.momentum.mass(), 80, 1e-6);
    EXPECT_NEAR(b.momentum.mass(), 4.18, 1e-4);
  }
}

TEST(Decay, GoesAllWaysAlike) {
  RandomSequence random(2, 0, 0);
  const Particle at_rest = moving(125, 0, 0, 0);
  double x = 0, z = 0, zz = 0;
  constexpr int kDecays = 100'000;
  const double p = decay_momentum(125, 4, 4);
  for (int i = 0; i < kDecays; ++i) {
    const FourVector b = decay(random, at_rest, 4, 4).first.momentum;
    x += b.x / p / kDecays;
    z += b.z / p / kDecays;
    zz += b.z * b.z / (p * p) / kDecays;
  }
  EXPECT_NEAR(x, 0, 0.01);
  EXPECT_NEAR(z, 0, 0.01);
  EXPECT_NEAR(zz, 1. / 3, 0.01);
}

TEST(Decay, AtThresholdIsAtRest) { EXPECT_EQ(decay_momentum(205, 80, 125), 0); }

TEST(DrawMass, HasHalfOfAllWithinHalfAWidthAndNoneBeyondTen) {
  RandomSequence random(3, 0, 0);
  constexpr int kDraws = 100'000;
  int near = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double mass = draw_mass(random, {80.377, 2.085});
    near += std::abs(mass - 80.377) < 0.5 * 2.085;
    ASSERT_LT(std::abs(mass - 80.377), 10 * 2.085);
  }
  EXPECT_NEAR(near / double(kDraws), 0.5 / 0.968, 0.01);  // 3.2 % lie beyond 10 widths and are drawn again
}

TEST(DrawNormal, HasMeanZeroAndDeviationOne) {
  RandomSequence random(4, 0, 0);
  constexpr int kDraws = 200'000;
  double sum = 0, squares = 0, beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = draw_normal(random);
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.01);
  EXPECT_NEAR(beyond_two / kDraws, 0.0455, 0.005);
}

}  // namespace
}  // namespace podere::collider
