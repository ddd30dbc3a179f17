#include "podere/io/packed.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "podere/base/error.h"
#include "podere/io/csv_reference.h"

namespace podere::io {
namespace {

using Members = std::vector<std::pair<std::string, std::string>>;  // name and content

/// `members` packed by libarchive with one filter and one format.
std::string pack(int (*filter)(archive*), int (*format)(archive*), const Members& members) {
  const TemporaryFile file("");
  archive* const writer = archive_write_new();
  EXPECT_EQ(filter(writer), ARCHIVE_OK);
  EXPECT_EQ(format(writer), ARCHIVE_OK);
  EXPECT_EQ(archive_write_open_filename(writer, file.path().c_str()), ARCHIVE_OK);
  for (const auto& [name, content] : members) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, name.ends_with('/') ? AE_IFDIR : AE_IFREG);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    EXPECT_EQ(archive_write_header(writer, entry), ARCHIVE_OK);
    archive_write_data(writer, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_free(writer);
  return file_text(file.path());
}

std::string zip(const Members& members) {
  return pack(archive_write_add_filter_none, archive_write_set_format_zip, members);
}

std::string read_all(ByteCursor& cursor) {
  std::string text(1 << 20, '\0');
  text.resize(cursor.read(text));
  return text;
}

std::string packed_refusal(const std::string& packed) {
  const TemporaryFile file(packed);
  try {
    const auto source = open_bytes(file.path());
    const auto cursor = source->cursor_at(0);
    std::string block(1 << 20, '\0');
    while (cursor->read(block) > 0) {
    }
  } catch (const InputError& error) {
    return std::string(error.what()).substr(file.path().string().size() + 2);
  }
  return "not refused";
}

std::string numbered_lines(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i * 7919) + ",2\n";
  return text;
}

TEST(Packed, IsReadFromAnyPlaceWhateverPackedIt) {
  const std::string text = numbered_lines(30000);
  for (const std::string& packed :
       {pack(archive_write_add_filter_bzip2, archive_write_set_format_raw, {{"x", text}}),
        pack(archive_write_add_filter_xz, archive_write_set_format_raw, {{"x", text}}),
        pack(archive_write_add_filter_zstd, archive_write_set_format_raw, {{"x", text}}),
        pack(archive_write_add_filter_lz4, archive_write_set_format_raw, {{"x", text}}), zip({{"x.csv", text}}),
        zip({{"folder/", ""}, {"folder/x.csv", text}, {"__MACOSX/._x.csv", "?"}})}) {
    const TemporaryFile file(packed);
    const auto source = open_bytes(file.path());
    EXPECT_EQ(source->size(), std::nullopt);
    for (const std::size_t offset : {0UL, 200000UL, 100UL, 100000UL, 100001UL, text.size(), text.size() + 9}) {
      EXPECT_EQ(read_all(*source->cursor_at(offset)), text.substr(std::min(offset, text.size())));
    }
  }
}

TEST(Packed, ArchivesThatAreNoFileOfTextAreRefused) {
  EXPECT_EQ(packed_refusal(zip({})), "is an archive without files");
  EXPECT_EQ(packed_refusal(zip({{"a.csv", "1"}, {"b.csv", "2"}})),
            "is a ZIP archive of 2 files, allowed is one: 'a.csv', 'b.csv'; unpack it and give one of them");
  EXPECT_EQ(packed_refusal(zip({{"[Content_Types].xml", ""}, {"xl/workbook.xml", ""}})),
            "is an Excel file: save it as CSV, as pandas does: pandas.read_excel(FILE).to_csv(CSV, index=False)");
  EXPECT_EQ(packed_refusal(zip({{"arr_0.npy", ""}})), "is an archive of NumPy arrays: read with --format npz");
  EXPECT_EQ(packed_refusal(pack(archive_write_add_filter_zstd, archive_write_set_format_pax, {{"a.csv", "1"}})),
            "is a tar archive packed with zstd: unpack it and give one of its files");
}

TEST(Packed, WhatIsCutOffOrDamagedIsRefused) {
  const std::string text = numbered_lines(20000);
  for (const auto filter :
       {archive_write_add_filter_bzip2, archive_write_add_filter_xz, archive_write_add_filter_zstd}) {
    std::string packed = pack(filter, archive_write_set_format_raw, {{"x", text}});
    EXPECT_TRUE(
        packed_refusal(packed.substr(0, packed.size() / 2)).starts_with("the packed data are damaged or cut short"));
    packed[packed.size() / 2] ^= 0x55;
    packed[packed.size() / 2 + 1] ^= 0x55;
    EXPECT_TRUE(packed_refusal(packed).starts_with("the packed data are damaged or cut short"));
  }
}

TEST(Packed, WhatGrowsBeyondMeasureIsRefused) {
  const std::string zeros(std::size_t{1} << 21, '0');
  const TemporaryFile file("");
  archive* const writer = archive_write_new();
  archive_write_add_filter_zstd(writer);
  archive_write_set_format_raw(writer);
  archive_write_open_filename(writer, file.path().c_str());
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_pathname(entry, "x");
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_write_header(writer, entry);
  for (int i = 0; i < 600; ++i) archive_write_data(writer, zeros.data(), zeros.size());
  archive_entry_free(entry);
  archive_write_free(writer);
  EXPECT_TRUE(packed_refusal(file_text(file.path())).starts_with("unpacks to more than 2000 times its "));
}

}  // namespace
}  // namespace podere::io
