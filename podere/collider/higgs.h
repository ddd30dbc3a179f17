// Simulated collisions in the layout of the UCI HIGGS set.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "podere/base/progress.h"
#include "podere/comm/communicator.h"
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
/// communication.
table::Table generate_table(std::uint64_t seed, std::uint64_t first, std::uint64_t last,
                            const comm::Communicator& comm, int n_threads);

/// Writes events [0, n_events) to `path` as text in the UCI layout (no header, label first, %.18e), or with a line of
/// names first. Written to a temporary name and renamed. Local.
void write_csv(const std::filesystem::path& path, std::uint64_t seed, std::uint64_t n_events, bool header,
               int n_threads, Progress& progress);

}  // namespace podere::collider
