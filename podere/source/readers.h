// The table of readers: file formats, and sources that are no files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "podere/source/reader.h"

namespace podere::source {

/// All readers. The first format is that of files which are known as no other.
std::span<const Reader> readers();

/// The one for locations "scheme:..."; null: there is none.
const Reader* reader_of_scheme(std::string_view scheme);

/// kAnyFormat and the names of all formats.
std::vector<std::string> format_names();

/// The one that reads `spec`, among `known`. Looks into the file if no format is chosen. Local. Throws InputError for a
/// format or scheme that there is not, and for a file that cannot be read.
const Reader& find_reader(const SourceSpec& spec, std::span<const Reader> known = readers());

/// Throws InputError for what is chosen that the reader does not have.
void check_options(const Reader& reader, const SourceSpec& spec);

}  // namespace podere::source
