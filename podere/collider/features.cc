#include "podere/collider/features.h"

#include <algorithm>
#include <cmath>

namespace podere::collider {
namespace {

/// The W that decayed into the lepton and a neutrino of the missing transverse momentum. With a = (m_W^2 + m^2)/2,
/// m^2 = 2 (p_l . p_nu) across the beams: p_nu,z = (a z +- E sqrt(a^2 - pt_l^2 pt_nu^2)) / pt_l^2; the smaller one is
/// used. Where the transverse mass is already above m_W there is no solution: the neutrino is then as steep as the
/// lepton, so that the mass of both is the transverse mass.
FourVector leptonic_w(const FourVector& lepton, const FourVector& missing, double m_w) {
  const double lepton_squared = lepton.transverse_squared();
  const double missing_squared = missing.transverse_squared();
  const double a = 0.5 * m_w * m_w + lepton.x * missing.x + lepton.y * missing.y;
  const double root_squared = a * a - lepton_squared * missing_squared;
  double z;
  if (a > 0 && root_squared > 0) {
    const double root = lepton.e * std::sqrt(root_squared);
    z = (a * lepton.z + (lepton.z > 0 ? -root : root)) / lepton_squared;
  } else {
    z = lepton.z * std::sqrt(missing_squared / lepton_squared);
  }
  return lepton + FourVector{std::sqrt(missing_squared + z * z), missing.x, missing.y, z};
}

/// The sum of the two jets without a tag whose mass is nearest to the W.
FourVector hadronic_w(const Observation& seen) {
  FourVector best;
  double best_distance = 1e300;
  for (std::size_t i = 0; i < seen.n_jets; ++i) {
    if (seen.jets[i].tag > 0) continue;
    for (std::size_t j = i + 1; j < seen.n_jets; ++j) {
      if (seen.jets[j].tag > 0) continue;
      const FourVector pair = seen.jets[i].momentum + seen.jets[j].momentum;
      const double distance = std::abs(pair.mass() - kW.mass);
      if (distance < best_distance) {
        best_distance = distance;
        best = pair;
      }
    }
  }
  return best;
}

constexpr double kConstraintResolution = 0.01;  // the spike of the real m_lv is this wide

}  // namespace

std::array<double, kFeatures> reconstruct(RandomSequence& random, const Observation& seen) {
  std::array<double, kFeatures> out;
  out[0] = seen.lepton.pt();
  out[1] = seen.lepton.eta();
  out[2] = seen.lepton.phi();
  out[3] = seen.missing.pt();
  out[4] = seen.missing.phi();
  for (std::size_t j = 0; j < kLeastJets; ++j) {
    const Jet& jet = seen.jets[j];
    double* at = &out[5 + 4 * j];
    at[0] = jet.pt;
    at[1] = jet.eta;
    at[2] = jet.phi;
    at[3] = jet.tag;
  }
  const auto tagged = [](const Jet& jet) { return jet.tag > 0; };
  const auto b1 = std::find_if(seen.jets.begin(), seen.jets.end(), tagged);
  const auto b2 = std::find_if(b1 + 1, seen.jets.end(), tagged);
  const FourVector jj = hadronic_w(seen);
  const FourVector lv =
      leptonic_w(seen.lepton, seen.missing, kW.mass * (1 + kConstraintResolution * draw_normal(random)));
  const FourVector bb = b1->momentum + b2->momentum;
  // The b that makes the better top with the two jets is theirs.
  const FourVector jj1 = jj + b1->momentum;
  const FourVector jj2 = jj + b2->momentum;
  const bool first = std::abs(jj1.mass() - kTop.mass) < std::abs(jj2.mass() - kTop.mass);
  out[21] = jj.mass();
  out[22] = (first ? jj1 : jj2).mass();
  out[23] = lv.mass();
  out[24] = (lv + (first ? b2 : b1)->momentum).mass();
  out[25] = bb.mass();
  out[26] = (jj + bb).mass();
  out[27] = (jj + lv + bb).mass();
  return out;
}

const std::array<double, kFeatures> kFeatureUnits = {
    56.48, 1.002, 1.813, 56.80,
    1.813,                                        // lepton, missing energy
    107.7, 0.965, 1.813, 1 / 1.0865380764007568,  // jets 1 to 4
    74.15, 0.983, 1.813, 1 / 1.1074360609054565,  //
    53.34, 1.047, 1.813, 1 / 1.2741122245788574,  //
    39.49, 1.135, 1.813, 1 / 1.5509806871414185,  //
    88.29, 176.9, 81.40, 177.4,
    117.0, 285.3, 445.4  // masses; that of m_lv puts the W where the real rows have it
};

}  // namespace podere::collider
