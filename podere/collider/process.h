// The two processes: what comes out of a collision before any detector.
#pragma once

#include <array>

#include "podere/base/hash.h"
#include "podere/collider/kinematics.h"

namespace podere::collider {

/// Masses and widths in GeV: W and t as measured (Particle Data Group, Review of Particle Physics 2022); those of the
/// Higgs bosons are the benchmark of Baldi et al. 2014, which gives no widths: 1 % of the mass is used as
/// the two heavy ones; the h0, in truth 4 MeV wide, has its mass exactly.
inline constexpr Resonance kW{80.377, 2.085};
inline constexpr Resonance kTop{172.69, 1.42};
inline constexpr Resonance kHeavyHiggs{425, 4.25};
inline constexpr Resonance kChargedHiggs{325, 3.25};
inline constexpr Resonance kLightHiggs{125, 0};
inline constexpr double kBottomMass = 4.18;
inline constexpr double kBeamsEnergy = 8000;  // both protons together, as in the paper

enum class Flavor : unsigned char { kLight, kCharm, kBottom };

struct Parton {
  FourVector momentum;
  Flavor flavor;
};

inline constexpr std::size_t kMaxRadiation = 4;

/// A charged lepton, its neutrino, the four quarks, and the gluons radiated by the incoming ones.
struct Collision {
  FourVector lepton;
  FourVector neutrino;
  std::array<Parton, 4 + kMaxRadiation> partons;  // b, b, then the two of the W, then the radiation
  std::size_t n_partons = 0;
};

/// gg -> H0 -> W H+- -> W W h0 -> l nu j j b b.
Collision draw_signal(RandomSequence& random);

/// gg -> t tbar -> W b W b -> l nu j j b b.
Collision draw_background(RandomSequence& random);

}  // namespace podere::collider
