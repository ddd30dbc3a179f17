// Energy and momentum of a particle, in GeV.
#pragma once

#include <algorithm>
#include <cmath>

#include "podere/base/portable_math.h"
#include "podere/collider/angles.h"

namespace podere::collider {

/// (E, p); z is the axis of the beams.
struct FourVector {
  double e = 0;
  double x = 0;
  double y = 0;
  double z = 0;

  FourVector& operator+=(const FourVector& other) {
    e += other.e;
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
  friend FourVector operator+(FourVector a, const FourVector& b) { return a += b; }
  friend FourVector operator-(const FourVector& a, const FourVector& b) {
    return {a.e - b.e, a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend FourVector operator*(double scale, const FourVector& v) {
    return {scale * v.e, scale * v.x, scale * v.y, scale * v.z};
  }

  double transverse_squared() const { return x * x + y * y; }
  /// Transverse momentum.
  double pt() const { return std::sqrt(transverse_squared()); }
  /// Invariant mass; 0 where rounding has left a square below 0.
  double mass() const { return std::sqrt(std::max(0.0, e * e - transverse_squared() - z * z)); }
  /// Angle around the beams, in [-pi, pi].
  double phi() const { return angle_of(x, y); }
  /// Pseudorapidity, -ln tan(theta / 2) = asinh(z / pt). Needs pt > 0.
  double eta() const {
    const double squared = transverse_squared();
    const double steep = (std::abs(z) + std::sqrt(squared + z * z)) / std::sqrt(squared);
    return std::copysign(portable_log(steep), z);
  }
};

/// The product that is the same in all frames, E E' - p p'.
inline double dot(const FourVector& a, const FourVector& b) { return a.e * b.e - a.x * b.x - a.y * b.y - a.z * b.z; }

/// A massless particle from transverse momentum, sinh of the pseudorapidity, and direction (cosine, sine) of phi.
inline FourVector massless(double pt, double sinh_eta, const SineCosine& phi) {
  return {pt * std::sqrt(1 + sinh_eta * sinh_eta), pt * phi.cosine, pt * phi.sine, pt * sinh_eta};
}

/// `v`, given in the rest frame of `parent` of mass `parent_mass`, as seen where `parent` moves:
/// E' = (P.E E + P.p p) / M,  p' = p + P.p (E + E') / (P.E + M).
inline FourVector boosted(const FourVector& v, const FourVector& parent, double parent_mass) {
  const double e = (parent.e * v.e + parent.x * v.x + parent.y * v.y + parent.z * v.z) / parent_mass;
  const double push = (v.e + e) / (parent.e + parent_mass);
  return {e, v.x + push * parent.x, v.y + push * parent.y, v.z + push * parent.z};
}

}  // namespace podere::collider
