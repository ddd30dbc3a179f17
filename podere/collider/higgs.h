// Simulated collisions in the layout of the UCI HIGGS set (P. Baldi, P. Sadowski, D. Whiteson, Searching for exotic
// particles in high-energy physics with deep learning, Nature Communications 5, 4308, 2014).
//
//   signal      gg -> H0 -> W H+- -> W W h0 -> l nu j j b b      53 %
//   background  gg -> t tbar -> W b W b     -> l nu j j b b
//
// Masses by Breit-Wigner, two-body phase space step by step, spins of the W, gluon radiation, a detector's resolution
// and b-tags, the selection of the paper, its reconstruction of masses. Made simpler than in the paper: matrix
// elements are reduced to the pole of top exchange and the spin of the W; the two tops' spins know nothing of each
// other; the gluon density is a power law; a parton is one jet with a loss beside it instead of a shower; the
// detector's resolution is three numbers. higgs_test.cc sets the features beside
// the real ones. Same bits on every machine: no std distribution, no elementary function of the C library.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
#include "podere/table/row_source.h"
#include "podere/table/table.h"

namespace podere::collider {

inline constexpr std::size_t kFeatures = 28;

/// A selected event: label 1 for signal, 0 for background, and the features in the order of the UCI set.
struct Event {
  float label;
  std::array<float, kFeatures> features;
};

/// Event `index` of the set that belongs to `seed`. Depends on nothing else.
Event generate_event(std::uint64_t seed, std::uint64_t index);

/// Names of label and features: lepton_pT, lepton_eta, ..., m_wwbb.
table::Schema higgs_schema();

/// Events [first, last) of `seed` as a table; each rank makes its rows_of() them. Collective in form only: no
/// communication. Throws InputError if first > last.
table::Table generate_table(std::uint64_t seed, std::uint64_t first, std::uint64_t last, const comm::Communicator& comm,
                            int n_threads);

/// The same rows, generated again each time they are read, and once here.
table::ReadRows generate_rows(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                              const comm::Communicator& comm, int n_threads,
                              std::size_t window_bytes = table::kWindowBytes);

/// Writes events [0, n_events) to `path` as text in the UCI layout (no header, label first, %.18e), or with a line of
/// names first. Written to a temporary name and renamed. Local. Memory does not grow with n_events. Returns how many:
/// fewer where the reader of a pipe leaves. Throws InputError if `path` cannot be written; Error if writing fails or
/// `progress` asks to stop: nothing is left then.
std::uint64_t write_csv(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t n_events, bool header,
                        int n_threads, Progress& progress);

}  // namespace podere::collider
