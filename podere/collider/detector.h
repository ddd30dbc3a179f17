// What a detector sees of a collision, and which collisions are kept.
#pragma once

#include <array>
#include <optional>

#include "podere/base/hash.h"
#include "podere/collider/process.h"

namespace podere::collider {

/// The selection of Baldi et al. 2014, for leptons and for jets.
inline constexpr double kLowestPt = 20;
inline constexpr double kWidestEta = 2.5;
inline constexpr std::size_t kLeastJets = 4;

struct Jet {
  FourVector momentum;
  double pt = 0;
  double eta = 0;
  double phi = 0;
  double raw_pt = 0;  ///< before calibration; jets are ordered by it
  Flavor flavor = Flavor::kLight;
  int tag = 0;  ///< 0: none, 1: loose, 2: tight
};

/// A selected event as it was measured.
struct Observation {
  FourVector lepton;
  FourVector missing;  // e and z are 0
  std::array<Jet, 4 + kMaxRadiation> jets;
  std::size_t n_jets = 0;  // the first two with a tag are the two with a tag
};

/// Measures a collision. Nothing if it fails the selection: one lepton and at least four jets above kLowestPt within
/// kWidestEta, exactly two of the jets with a b-tag (the real rows never have more).
std::optional<Observation> observe(RandomSequence& random, const Collision& collision);

}  // namespace podere::collider
