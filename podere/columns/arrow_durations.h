// What Arrow leaves in files of other formats about columns whose kind these formats do not have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace podere::columns {

/// The names of columns that are durations, and how many of their unit a second has, in a schema as Arrow writes it
/// into Parquet files: a message as text. None where it cannot be read.
std::vector<std::pair<std::string, std::int64_t>> arrow_durations(const std::string& schema);

}  // namespace podere::columns
