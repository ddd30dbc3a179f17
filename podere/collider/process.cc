#include "podere/collider/process.h"

#include <algorithm>
#include <cmath>

namespace podere::collider {
namespace {

/// Gluons radiated before the collision: their number falls geometrically, the share of them above pt as pt^(-4/3).
/// Returns what they carry away across the beams.
FourVector draw_radiation(RandomSequence& random, double share, Collision& collision) {
  constexpr double kLowestPt = 15;
  constexpr double kHighestPt = 300;
  constexpr double kWidestEta = 2.5;  // uniform between +- this
  FourVector sum;
  for (std::size_t i = 0; i < kMaxRadiation && random.uniform() < share; ++i) {
    const double root = std::sqrt(1 - random.uniform());
    const double pt = std::min(kHighestPt, kLowestPt / (root * std::sqrt(root)));
    const double growth = portable_exp(kWidestEta * (2 * random.uniform() - 1));
    const FourVector gluon = massless(pt, 0.5 * (growth - 1 / growth), draw_direction(random));
    collision.partons[collision.n_partons++] = {gluon, Flavor::kLight};
    sum += gluon;
  }
  return sum;
}

/// What the two gluons make, of mass `mass`. With x g(x) ~ x^-a (1 - x)^b and x1 x2 = tau = m^2 / s, the rapidity y
/// goes as ((1 - x1)(1 - x2))^b = (1 - 2 sqrt(tau) cosh y + tau)^b; b = 6 is near what fits to data give.
Particle draw_system(RandomSequence& random, double mass, double radiation, Collision& collision) {
  const double root_tau = mass / kBeamsEnergy;
  const double widest = -portable_log(root_tau);
  const double largest = (1 - root_tau) * (1 - root_tau);  // at y = 0
  double growth, chance;                                   // e^y, and the square root of how likely it is beside y = 0
  do {
    growth = portable_exp(widest * (2 * random.uniform() - 1));
    const double ratio = (1 - root_tau * growth) * (1 - root_tau / growth) / largest;
    chance = ratio * ratio * ratio;
  } while (random.uniform() > chance * chance);
  const FourVector recoil = draw_radiation(random, radiation, collision);
  const double transverse_mass = std::sqrt(mass * mass + recoil.transverse_squared());
  return {{0.5 * transverse_mass * (growth + 1 / growth), -recoil.x, -recoil.y,
           0.5 * transverse_mass * (growth - 1 / growth)},
          mass};
}

/// A W and what it was made together with, in the frame of the detector.
struct WithPartner {
  Particle w;
  Particle partner;
};

/// How the spin of the W favors a `cosine` of the charged lepton, or the down quark, to the flight of the W (largest
/// value 1): all Ws are longitudinal beside a Higgs boson, 69 % are beside a b quark, where the others are
/// left-handed (Particle Data Group 2022, sec. 60; the sum over both is 1 - c^2 and (1 - c)^2).
double favor_beside_higgs(double cosine) { return 1 - cosine * cosine; }
double favor_beside_bottom(double cosine) {
  constexpr double kLargest = 0.6675;
  return (0.69 * 0.75 * (1 - cosine * cosine) + 0.31 * 0.375 * (1 - cosine) * (1 - cosine)) / kLargest;
}

/// Decay of a W into two massless particles, the charged lepton or the down quark first. Their angle in the rest frame
/// of the W follows from l.x = E_l (E_x + |p_x| c), where x is the partner, which flies the other way.
TwoParticles decay_w(RandomSequence& random, const WithPartner& mother, double (*favor)(double)) {
  const auto& [w, partner] = mother;
  const double partner_e = dot(w.momentum, partner.momentum) / w.mass;
  const double partner_p = std::sqrt(partner_e * partner_e - partner.mass * partner.mass);
  while (true) {
    const TwoParticles pair = decay(random, w, 0, 0);
    const double cosine = (dot(pair.first.momentum, partner.momentum) / (0.5 * w.mass) - partner_e) / partner_p;
    if (random.uniform() < favor(cosine)) return pair;
  }
}

/// The first W goes into leptons, the other into quarks (c s half of the time).
void decay_both_w(RandomSequence& random, const WithPartner& leptonic, const WithPartner& hadronic,
                  double (*favor)(double), Collision& collision) {
  const auto [lepton, neutrino] = decay_w(random, leptonic, favor);
  collision.lepton = lepton.momentum;
  collision.neutrino = neutrino.momentum;
  const auto [down, up] = decay_w(random, hadronic, favor);
  collision.partons[2] = {down.momentum, Flavor::kLight};
  collision.partons[3] = {up.momentum, random.next() >> 63 ? Flavor::kCharm : Flavor::kLight};
}

/// The mass of a pair of tops, of steep distribution: dN/dm ~ beta m^-5.5 above the threshold, where beta
/// is the speed of the tops. Used in place of gluon luminosity times cross-section.
double draw_pair_mass(RandomSequence& random, double threshold) {
  while (true) {
    const double mass = threshold * portable_exp(portable_log(1 - random.uniform()) * (-1 / 4.5));
    const double ratio = threshold / mass;
    const double u = random.uniform();
    if (u * u < 1 - ratio * ratio && mass < 0.5 * kBeamsEnergy) return mass;
  }
}

/// cos(theta) by the pole of top exchange, 1 / (1 - beta^2 cos^2(theta)): tanh((2u - 1) atanh(beta)) / beta.
double draw_exchange_cosine(RandomSequence& random, double beta) {
  const double growth = portable_exp((2 * random.uniform() - 1) * portable_log((1 + beta) / (1 - beta)));
  return std::clamp((growth - 1) / ((growth + 1) * beta), -1.0, 1.0);
}

constexpr double kSignalRadiation = 0.72;
constexpr double kBackgroundRadiation = 0.72;

}  // namespace

Collision draw_signal(RandomSequence& random) {
  Collision collision;
  collision.n_partons = 4;
  double m_heavy, m_w1, m_charged;
  do {
    m_heavy = draw_mass(random, kHeavyHiggs);
    m_w1 = draw_mass(random, kW);
    m_charged = draw_mass(random, kChargedHiggs);
  } while (m_w1 + m_charged >= m_heavy);
  const Particle heavy = draw_system(random, m_heavy, kSignalRadiation, collision);
  const auto [w1, charged] = decay(random, heavy, m_w1, m_charged);
  const auto [w2, light] = decay(random, charged, draw_mass(random, kW), kLightHiggs.mass);
  const auto [b, b_bar] = decay(random, light, kBottomMass, kBottomMass);
  collision.partons[0] = {b.momentum, Flavor::kBottom};
  collision.partons[1] = {b_bar.momentum, Flavor::kBottom};
  const bool first_is_leptonic = random.next() >> 63;
  const WithPartner outer{w1, charged};
  const WithPartner inner{w2, light};
  decay_both_w(random, first_is_leptonic ? outer : inner, first_is_leptonic ? inner : outer, favor_beside_higgs,
               collision);
  return collision;
}

Collision draw_background(RandomSequence& random) {
  Collision collision;
  collision.n_partons = 4;
  const double m_t1 = draw_mass(random, kTop);
  const double m_t2 = draw_mass(random, kTop);
  const double m_pair = draw_pair_mass(random, m_t1 + m_t2);
  const Particle pair = draw_system(random, m_pair, kBackgroundRadiation, collision);
  const double beta = 2 * decay_momentum(m_pair, m_t1, m_t2) / m_pair;
  const auto [t1, t2] = decay_at(random, pair, m_t1, m_t2, draw_exchange_cosine(random, beta));
  const auto [w1, b1] = decay(random, t1, draw_mass(random, kW), kBottomMass);
  const auto [w2, b2] = decay(random, t2, draw_mass(random, kW), kBottomMass);
  collision.partons[0] = {b1.momentum, Flavor::kBottom};
  collision.partons[1] = {b2.momentum, Flavor::kBottom};
  decay_both_w(random, {w1, b1}, {w2, b2}, favor_beside_bottom, collision);
  return collision;
}

}  // namespace podere::collider
