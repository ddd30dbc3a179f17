// The 28 numbers that describe an event.
#pragma once

#include <array>

#include "podere/base/hash.h"
#include "podere/collider/detector.h"
#include "podere/collider/higgs.h"

namespace podere::collider {

/// Names in the order of the UCI set.
inline constexpr std::array<const char*, kFeatures> kFeatureNames = {"lepton_pT",
                                                                     "lepton_eta",
                                                                     "lepton_phi",
                                                                     "missing_energy_magnitude",
                                                                     "missing_energy_phi",
                                                                     "jet1_pt",
                                                                     "jet1_eta",
                                                                     "jet1_phi",
                                                                     "jet1_b-tag",
                                                                     "jet2_pt",
                                                                     "jet2_eta",
                                                                     "jet2_phi",
                                                                     "jet2_b-tag",
                                                                     "jet3_pt",
                                                                     "jet3_eta",
                                                                     "jet3_phi",
                                                                     "jet3_b-tag",
                                                                     "jet4_pt",
                                                                     "jet4_eta",
                                                                     "jet4_phi",
                                                                     "jet4_b-tag",
                                                                     "m_jj",
                                                                     "m_jjj",
                                                                     "m_lv",
                                                                     "m_jlv",
                                                                     "m_bb",
                                                                     "m_wbb",
                                                                     "m_wwbb"};

/// Features in GeV and radians; b-tags as 0, 1, 2. The masses are those of what the jets and leptons are assumed to be:
/// the two jets with a tag are b b; the two others whose mass is nearest to the W are j j; m_jjj takes the b that
/// brings it nearest to the top, m_jlv the other; the neutrino's momentum along the beams is what gives it and the
/// lepton the mass of the W.
std::array<double, kFeatures> reconstruct(RandomSequence& random, const Observation& seen);

/// What each feature is divided by in the set: the mean of energies and masses and the standard deviation of angles,
/// over 400,000 events; for b-tags what gives the very numbers of the UCI set.
extern const std::array<double, kFeatures> kFeatureUnits;

}  // namespace podere::collider
