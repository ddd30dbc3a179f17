// Decays of particles: masses and directions drawn by their distributions.
#pragma once

#include "podere/base/hash.h"
#include "podere/collider/four_vector.h"

namespace podere::collider {

/// A particle with the mass that it has in this event.
struct Particle {
  FourVector momentum;
  double mass = 0;
};

struct Resonance {
  double mass;
  double width;
};

struct TwoParticles {
  Particle first;
  Particle second;
};

/// Nearly normal number of mean 0 and deviation 1: the sum of 8 uniform ones, never beyond 4.9 deviations. For
/// resolutions, whose far tails are unknown.
double draw_normal(RandomSequence& random);

/// A direction's (cosine, sine), uniform in the angle.
inline SineCosine draw_direction(RandomSequence& random) { return sine_cosine_of_turns(random.uniform()); }

/// A mass m with density in m^2 of the relativistic Breit-Wigner shape 1 / ((m^2 - M^2)^2 + M^2 Gamma^2), within
/// 10 widths of M.
double draw_mass(RandomSequence& random, const Resonance& resonance);

/// Momentum of each of two particles of masses `m1`, `m2` in the rest frame of their parent of mass `m`:
/// sqrt((m^2 - (m1 + m2)^2) (m^2 - (m1 - m2)^2)) / 2m. Needs m1 + m2 <= m.
/// Source: Particle Data Group, Review of Particle Physics 2022, eq. 49.17.
double decay_momentum(double m, double m1, double m2);

/// Decay of `parent` into masses `m1`, `m2`, the first at angle acos(`cosine`) to the z axis in the parent's rest
/// frame.
TwoParticles decay_at(RandomSequence& random, const Particle& parent, double m1, double m2, double cosine);

/// As decay_at, all directions alike.
inline TwoParticles decay(RandomSequence& random, const Particle& parent, double m1, double m2) {
  const double cosine = 2 * random.uniform() - 1;
  return decay_at(random, parent, m1, m2, cosine);
}

}  // namespace podere::collider
