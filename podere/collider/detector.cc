#include "podere/collider/detector.h"

#include <algorithm>
#include <cmath>

namespace podere::collider {
namespace {

constexpr double kLeptonResolution = 0.015;  // of the transverse momentum
constexpr double kJetStochastic = 0.9;       // sigma / E = kJetStochastic / sqrt(E / GeV) (+) kJetConstant
constexpr double kJetConstant = 0.05;
constexpr double kLargestLoss = 0.4;           // of the energy beside the jet: kLargestLoss u^3, u uniform
constexpr double kRawResolution = 0.25;        // before calibration
constexpr double kSoftMissing = 10;            // GeV in x and in y, from what is in no jet
constexpr double kSemileptonic = 0.2;          // of the b quarks lose energy to a neutrino
constexpr double kLargestNeutrinoShare = 0.5;  // of its energy, uniform below
constexpr double kJetRadius = 0.4;
constexpr double kTrackerEta = 1.5;  // b-tags need tracks: the real rows have none beyond
constexpr double kLooseShare = 0.17;

/// |eta| < kWidestEta, compared as |pz| / pt = sinh|eta|, which costs no logarithm.
bool points_into_acceptance(const FourVector& v) {
  constexpr double kSinhWidestEta = 6.0502044810397875;
  return v.z * v.z < kSinhWidestEta * kSinhWidestEta * v.transverse_squared();
}

bool within_acceptance(const FourVector& v) {
  return v.transverse_squared() > kLowestPt * kLowestPt && points_into_acceptance(v);
}

/// Whether enough partons point into the acceptance; the response does not turn them.
bool may_have_jets(const Collision& collision) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < collision.n_partons; ++i) n += points_into_acceptance(collision.partons[i].momentum);
  return n >= kLeastJets;
}

/// The share of a parton's energy that is measured.
struct Response {
  double in_jet;
  double in_all;  // with what flies beside the jet, of which no energy is missing
};

Response draw_response(RandomSequence& random, const Parton& parton) {
  double in_all = 1;
  if (parton.flavor == Flavor::kBottom && random.uniform() < kSemileptonic) {
    in_all -= kLargestNeutrinoShare * random.uniform();
  }
  const double resolution =
      std::sqrt(kJetStochastic * kJetStochastic / parton.momentum.e + kJetConstant * kJetConstant);
  in_all = std::max(0.1, in_all + resolution * draw_normal(random));
  const double u = random.uniform();
  return {in_all * (1 - kLargestLoss * u * u * u), in_all};
}

/// Joins jets that are closer than kJetRadius in (eta, phi), until none are. Returns how many are left.
std::size_t join_close(std::array<Jet, 4 + kMaxRadiation>& jets, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) {
      const double d_eta = jets[i].eta - jets[j].eta;
      if (std::abs(d_eta) > kJetRadius) continue;
      double d_phi = std::abs(jets[i].phi - jets[j].phi);
      d_phi = std::min(d_phi, 2 * std::numbers::pi - d_phi);
      if (d_eta * d_eta + d_phi * d_phi > kJetRadius * kJetRadius) continue;
      jets[i].momentum += jets[j].momentum;
      jets[i].flavor = std::max(jets[i].flavor, jets[j].flavor);
      jets[i].eta = jets[i].momentum.eta();
      jets[i].phi = jets[i].momentum.phi();
      jets[j] = jets[--n];
      j = i;  // look at all the others again
    }
  }
  return n;
}

/// Chance of a b-tag: rises with transverse momentum, falls again where tracks are too dense, and ends with the
/// tracker. Never above kBestEfficiency.
double tag_efficiency(const Jet& jet) {
  if (std::abs(jet.eta) > kTrackerEta) return 0;
  const double hard = jet.pt / 300;
  const double rise = jet.pt / ((jet.pt + 15) * (1 + hard * hard));
  switch (jet.flavor) {
    case Flavor::kBottom:
      return 0.9 * rise;
    case Flavor::kCharm:
      return 0.35 * rise;
    default:
      return 0.09 * rise;
  }
}

constexpr double kBestEfficiency = 0.71;

/// Tags two jets, or none. Independent tags of chance e_i are on exactly the jets i and j with chance
/// o_i o_j (1 - e_1) ... (1 - e_n), where o = e / (1 - e). Drawing them one by one would throw most events away; the
/// largest chance P of exactly two tags is kBestEfficiency^2 (P is linear in each e_i, so it is largest where each is 0
/// or the best, then with two of the best), so taking the event with chance P / kBestEfficiency^2 and then the pair
/// by its share of P gives the same distribution for half of the work.
bool tag_two(RandomSequence& random, Observation& seen) {
  std::array<double, 4 + kMaxRadiation> odds;
  double none = 1;
  double sum = 0;
  double pairs = 0;  // sum of o_i o_j over i < j
  for (std::size_t i = 0; i < seen.n_jets; ++i) {
    const double efficiency = tag_efficiency(seen.jets[i]);
    none *= 1 - efficiency;
    odds[i] = efficiency / (1 - efficiency);
    pairs += odds[i] * sum;
    sum += odds[i];
  }
  if (random.uniform() * (kBestEfficiency * kBestEfficiency) >= none * pairs) return false;
  double left = random.uniform() * pairs;
  for (std::size_t i = 0; i < seen.n_jets; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      left -= odds[i] * odds[j];
      if (left >= 0) continue;
      for (const std::size_t k : {i, j}) seen.jets[k].tag = random.uniform() < kLooseShare ? 1 : 2;
      return true;
    }
  }
  return false;  // rounding, once in 10^15
}

}  // namespace

std::optional<Observation> observe(RandomSequence& random, const Collision& collision) {
  Observation seen;
  seen.lepton = (1 + kLeptonResolution * draw_normal(random)) * collision.lepton;
  if (!within_acceptance(seen.lepton)) return std::nullopt;

  auto& jets = seen.jets;
  if (!may_have_jets(collision)) return std::nullopt;
  FourVector visible = seen.lepton;
  for (std::size_t i = 0; i < collision.n_partons; ++i) {
    const Parton& parton = collision.partons[i];
    const Response response = draw_response(random, parton);
    visible += response.in_all * parton.momentum;
    Jet& jet = jets[seen.n_jets];
    jet.momentum = response.in_jet * parton.momentum;
    jet.flavor = parton.flavor;
    if (within_acceptance(jet.momentum)) ++seen.n_jets;
  }
  if (seen.n_jets < kLeastJets) return std::nullopt;
  for (std::size_t i = 0; i < seen.n_jets; ++i) {
    jets[i].eta = jets[i].momentum.eta();
    jets[i].phi = jets[i].momentum.phi();
  }
  seen.n_jets = join_close(jets, seen.n_jets);
  if (seen.n_jets < kLeastJets) return std::nullopt;

  for (std::size_t i = 0; i < seen.n_jets; ++i) jets[i].pt = jets[i].momentum.pt();
  if (!tag_two(random, seen)) return std::nullopt;

  for (std::size_t i = 0; i < seen.n_jets; ++i) {
    jets[i].raw_pt = jets[i].pt * (1 + kRawResolution * draw_normal(random));
  }
  std::sort(jets.begin(), jets.begin() + static_cast<std::ptrdiff_t>(seen.n_jets),
            [](const Jet& a, const Jet& b) { return a.raw_pt > b.raw_pt; });
  seen.missing = {0, kSoftMissing * draw_normal(random) - visible.x, kSoftMissing * draw_normal(random) - visible.y, 0};
  return seen;
}

}  // namespace podere::collider
