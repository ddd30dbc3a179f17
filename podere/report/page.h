// The page that shows runs, and the document that it shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::report {

/// The page as web/ makes it, with a place for the document.
extern const char* const kPageHtml;

/// {"podere_report": 1, "version": ..., "runs": [...]}. Each run has a "name", which becomes unique here.
Json document_of(std::vector<Json> runs);

/// The page with a document: one file that needs no others. UTF-8.
std::string html_of(const Json& document);

/// The page that follows a driver: it asks the server that it came from, and no other.
std::string live_html();

/// Throws InputError for a path that is there and leads to no file, such as a folder or a device: it may have no end.
void check_is_file(const std::filesystem::path& path);

/// The runs of a report, a page or the document alone. Throws InputError, beginning with the path, for a file that is
/// neither, was damaged, or is of a newer version.
std::vector<Json> read_report(const std::filesystem::path& path);
/// The same for the content of a file called `name`.
std::vector<Json> runs_of(const std::string& text, const std::string& name);

}  // namespace podere::report
