#include "podere/collider/process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace podere::collider {
namespace {

FourVector sum_of(const Collision& c, std::size_t begin, std::size_t end) {
  FourVector sum;
  for (std::size_t i = begin; i < end; ++i) sum += c.partons[i].momentum;
  return sum;
}

void expect_balance_across_the_beams(const Collision& c) {
  const FourVector all = c.lepton + c.neutrino + sum_of(c, 0, c.n_partons);
  EXPECT_NEAR(all.x, 0, 1e-6);
  EXPECT_NEAR(all.y, 0, 1e-6);
  EXPECT_LT(all.e, kBeamsEnergy);
}

void expect_near(double mass, const Resonance& resonance) {
  EXPECT_LE(std::abs(mass - resonance.mass), 10 * resonance.width + 1e-3);
}

TEST(Signal, IsTheCascadeOfHiggsBosons) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    RandomSequence random(1, 0, i);
    const Collision c = draw_signal(random);
    const FourVector w_leptons = c.lepton + c.neutrino;
    const FourVector w_quarks = sum_of(c, 2, 4);
    const FourVector light = sum_of(c, 0, 2);
    expect_near(light.mass(), kLightHiggs);
    expect_near(w_leptons.mass(), kW);
    expect_near(w_quarks.mass(), kW);
    expect_near((w_leptons + w_quarks + light).mass(), kHeavyHiggs);
    const double one = (w_leptons + light).mass() - kChargedHiggs.mass;
    const double other = (w_quarks + light).mass() - kChargedHiggs.mass;
    EXPECT_LE(std::min(std::abs(one), std::abs(other)), 10 * kChargedHiggs.width);
    expect_balance_across_the_beams(c);
  }
}

TEST(Background, IsAPairOfTops) {
  for (std::uint64_t i = 0; i < 2000; ++i) {
    RandomSequence random(2, 0, i);
    const Collision c = draw_background(random);
    expect_near((c.lepton + c.neutrino + c.partons[0].momentum).mass(), kTop);
    expect_near((sum_of(c, 2, 4) + c.partons[1].momentum).mass(), kTop);
    EXPECT_EQ(c.partons[0].flavor, Flavor::kBottom);
    EXPECT_EQ(c.partons[1].flavor, Flavor::kBottom);
    expect_balance_across_the_beams(c);
  }
}

// cos of the lepton's angle to the flight of the W, in the W's rest frame, from l.b = (m_t^2 - m_W^2) (1 + c) / 4.
// With 69 % longitudinal and 31 % left-handed Ws its mean is -0.31 / 2.
TEST(Background, HasLeftHandedWsAmongItsLongitudinalOnes) {
  double mean = 0;
  constexpr int kEvents = 50'000;
  for (std::uint64_t i = 0; i < kEvents; ++i) {
    RandomSequence random(3, 0, i);
    const Collision c = draw_background(random);
    const FourVector& b = c.partons[0].momentum;
    const double lepton_b = dot(c.lepton, b);
    const double w_b = dot(c.lepton + c.neutrino, b);
    mean += (2 * lepton_b / w_b - 1) / kEvents;
  }
  EXPECT_NEAR(mean, -0.155, 0.01);
}

}  // namespace
}  // namespace podere::collider
