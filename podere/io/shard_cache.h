// Rows on a local disk, for a group of executors that starts again.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "podere/comm/communicator.h"
#include "podere/table/table.h"

namespace podere::io {

/// Writes the rows held here to `folder`, which is made if need be, as one file of this `name` and first row; one that
/// is there is replaced. The name must identify the rows and all that made them (source, its version, options): shards
/// of one name count as parts of one table, whichever process wrote them. A rank without rows writes nothing, unless no
/// rank has any. Memory: none of note. False if it cannot be written, for lack of room or else; nothing is left then.
/// Local. Throws InputError if `name` is not of 1 to 100 letters, digits, _, - and ., or begins with a dot.
bool write_shard(const std::filesystem::path& folder, const std::string& name, const table::Table& table,
                 int n_threads = 1);

/// The table whose shards of this name lie in the folders of all ranks; each rank receives its rows_of() it. Shards may
/// overlap, and ranks may be more or fewer than wrote them. What is cut short, altered (by CRC-32) or of another
/// version counts as absent. Nothing, on all ranks, if one lacks a row of its own, or if shards are of different
/// tables.
///
/// Read and not mapped: mapped pages would count as memory of the executor, the table needs its values at a place of
/// its own, and a mapped file that another process truncates ends the process.
///
/// Collective: three all_reduces and a broadcast of the schema. Throws InputError as write_shard.
std::optional<table::Table> read_shards(const std::filesystem::path& folder, const std::string& name,
                                        const comm::Communicator& comm, int n_threads = 1);

/// Removes all shards of this name, as far as that can be done. Local. Throws InputError as write_shard.
void remove_shards(const std::filesystem::path& folder, const std::string& name);

}  // namespace podere::io
