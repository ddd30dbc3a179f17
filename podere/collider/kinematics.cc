#include "podere/collider/kinematics.h"

#include <cmath>

namespace podere::collider {

double draw_normal(RandomSequence& random) {
  // Even and odd 16-bit pieces of two words are added side by side: four pieces in each half of `sum`.
  constexpr std::uint64_t kEven = 0x0000ffff0000ffffULL;
  const std::uint64_t a = random.next();
  const std::uint64_t b = random.next();
  const std::uint64_t sum = (a & kEven) + (a >> 16 & kEven) + (b & kEven) + (b >> 16 & kEven);
  constexpr double kDeviation = 0.816496580927726;  // of the sum of 8 uniform numbers, sqrt(8 / 12)
  const double pieces = static_cast<double>((sum & 0xffffffffULL) + (sum >> 32)) + 4;
  return (pieces * 0x1.0p-16 - 4) / kDeviation;
}

double draw_mass(RandomSequence& random, const Resonance& resonance) {
  const auto [mass, width] = resonance;
  const double lowest = mass - 10 * width;
  const double highest = mass + 10 * width;
  while (true) {
    // m^2 = M^2 + M Gamma tan(pi (u - 1/2)), the inverse of the distribution function.
    const auto [sine, cosine] = sine_cosine_of_turns(0.5 * (random.uniform() - 0.5));
    const double squared = mass * (mass + width * sine / cosine);
    if (squared > lowest * lowest && squared < highest * highest) return std::sqrt(squared);
  }
}

double decay_momentum(double m, double m1, double m2) {
  const double sum = m1 + m2;
  const double difference = m1 - m2;
  return std::sqrt((m * m - sum * sum) * (m * m - difference * difference)) / (2 * m);
}

TwoParticles decay_at(RandomSequence& random, const Particle& parent, double m1, double m2, double cosine) {
  const double p = decay_momentum(parent.mass, m1, m2);
  const auto phi = draw_direction(random);
  const double across = p * std::sqrt(1 - cosine * cosine);
  const FourVector one{std::sqrt(p * p + m1 * m1), across * phi.cosine, across * phi.sine, p * cosine};
  const FourVector first = boosted(one, parent.momentum, parent.mass);
  return {{first, m1}, {parent.momentum - first, m2}};
}

}  // namespace podere::collider
