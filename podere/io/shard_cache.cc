#include "podere/io/shard_cache.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <string_view>
#include <vector>

#include "podere/base/error.h"
#include "podere/base/parallel.h"
#include "podere/base/printable.h"
#include "podere/io/shard_file.h"

namespace podere::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".shard";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-.";

void check_name(const std::string& name) {
  constexpr std::size_t kMostCharacters = 100;
  if (name.empty() || name.size() > kMostCharacters || name[0] == '.' ||
      name.find_first_not_of(kNameCharacters) != std::string::npos) {
    throw_input_error("shards of the name {}; allowed are 1 to {} letters, digits, _, - and ., without a dot in front",
                      printable(name), kMostCharacters);
  }
}

/// NAME.FIRST_ROW.shard
bool is_shard_of(const std::string& file, const std::string& name) {
  if (!file.starts_with(name + ".") || !file.ends_with(kSuffix)) return false;
  if (file.size() <= name.size() + 1 + kSuffix.size()) return false;
  const auto first_row = std::string_view(file).substr(name.size() + 1, file.size() - name.size() - 1 - kSuffix.size());
  return first_row.find_first_not_of(kDigits) == std::string_view::npos;
}

std::vector<fs::path> find_shards(const fs::path& folder, const std::string& name) {
  std::vector<fs::path> paths;
  std::error_code none;
  for (fs::directory_iterator entry(folder, none), end; !none && entry != end; entry.increment(none)) {
    if (is_shard_of(entry->path().filename().string(), name)) paths.push_back(entry->path());
  }
  std::ranges::sort(paths);
  return paths;
}

/// Which rows come from which shard.
struct ShardPart {
  const ShardFile* shard;
  table::RowRange rows;
};

/// The shards that `rows` lie in, in their order; nothing if a row lies in none.
std::optional<std::vector<ShardPart>> cover(table::RowRange rows, const std::vector<ShardFile>& shards) {
  std::vector<ShardPart> pieces;
  for (std::uint64_t at = rows.begin; at < rows.end;) {
    const ShardFile* furthest = nullptr;
    for (const ShardFile& shard : shards) {
      const table::RowRange held = shard.header().rows;
      if (held.begin > at || held.end <= at) continue;
      if (furthest == nullptr || held.end > furthest->header().rows.end) furthest = &shard;
    }
    if (furthest == nullptr) return std::nullopt;
    const std::uint64_t end = std::min(furthest->header().rows.end, rows.end);
    pieces.push_back({furthest, {at, end}});
    at = end;
  }
  return pieces;
}

/// Sets the values of `table`. False if a shard turns out to be altered.
bool read_pieces(const std::vector<ShardPart>& pieces, table::Table& table, int n_threads) {
  std::atomic<bool> is_whole = true;
  parallel_for(n_threads, table.n_columns(), [&](std::size_t j, int) {
    for (const ShardPart& piece : pieces) {
      if (!is_whole) return;
      const auto place = table.column(j).subspan(static_cast<std::size_t>(piece.rows.begin - table.rows().begin),
                                                 static_cast<std::size_t>(piece.rows.size()));
      if (!piece.shard->read(j, piece.rows, place)) is_whole = false;
    }
  });
  return is_whole;
}

bool is_true_on_all(bool value, const comm::Communicator& comm) {
  return comm.all_reduce(std::int32_t{value ? 1 : 0}, comm::Reduction::kMin) == 1;
}

/// The table as shards of the lowest rank that has any describe it, on all ranks; nothing if none has.
std::optional<ShardHeader> agree_on_table(const std::vector<ShardFile>& shards, const comm::Communicator& comm) {
  const std::int32_t n_ranks = comm.size();
  const std::int32_t teller = comm.all_reduce(shards.empty() ? n_ranks : comm.rank(), comm::Reduction::kMin);
  if (teller == n_ranks) return std::nullopt;
  return ShardHeader::from_json(
      comm.broadcast_text(comm.rank() == teller ? shards.front().header().to_json() : "", teller));
}

}  // namespace

bool write_shard(const fs::path& folder, const std::string& name, const table::Table& table, int n_threads) {
  check_name(name);
  if (table.n_rows() == 0 && table.n_global_rows() > 0) return true;
  std::error_code none;
  fs::create_directories(folder, none);
  try {
    write_shard_file(folder / fmt::format("{}.{}{}", name, table.rows().begin, kSuffix), table, n_threads);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<table::Table> read_shards(const fs::path& folder, const std::string& name, const comm::Communicator& comm,
                                        int n_threads) {
  check_name(name);
  std::vector<ShardFile> shards;
  for (const fs::path& path : find_shards(folder, name)) {
    if (auto shard = ShardFile::open(path)) shards.push_back(std::move(*shard));
  }
  const auto about = agree_on_table(shards, comm);
  if (!about) return std::nullopt;  // on all ranks

  const table::RowRange mine = table::rows_of(about->n_global_rows, comm.rank(), comm.size());
  const bool are_parts =
      std::ranges::all_of(shards, [&](const ShardFile& shard) { return shard.header().is_same_table(*about); });
  const auto pieces = cover(mine, shards);
  if (!is_true_on_all(are_parts && pieces, comm)) return std::nullopt;

  std::optional<table::Table> table;
  bool is_whole = false;
  comm.agree([&] { table.emplace(about->schema, about->n_global_rows, mine); });
  try {
    is_whole = read_pieces(*pieces, *table, n_threads);
  } catch (const std::exception&) {  // a damaged file counts as absent
    is_whole = false;
  }
  return is_true_on_all(is_whole, comm) ? std::move(table) : std::nullopt;
}

void remove_shards(const fs::path& folder, const std::string& name) {
  check_name(name);
  std::error_code ignored;
  for (const fs::path& path : find_shards(folder, name)) fs::remove(path, ignored);
}

}  // namespace podere::io
