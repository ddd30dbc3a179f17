// The page that shows runs, and the document that it shows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "podere/base/json.h"

namespace podere::report {

/// The page as web/ makes it, with a place for the document.
extern const char* const kPageHtml;

/// {"podere_report": 1, "version": ..., "runs": [...], "studies": [...]}. Each run has a "name", which becomes unique
/// here. Studies are those of podere scale; without any there is no such list.
Json document_of(std::vector<Json> runs, std::vector<Json> studies = {});

/// The page with a document: one file that needs no others. UTF-8.
std::string html_of(const Json& document);

/// The page that follows what "live", a driver, or "farms" do: it asks the server that it came from, and no other.
std::string served_page(const std::string& what);

/// Throws InputError for a path that is there and leads to no file, such as a folder or a device: it may have no end.
void check_is_file(const std::filesystem::path& path);

/// The runs of a report, the content of a file called `name`: a page or the document alone. Throws InputError,
/// beginning with the name, for what is neither, was damaged, or is of a newer version.
std::vector<Json> runs_of(const std::string& text, const std::string& name);
/// The studies of such content.
std::vector<Json> studies_of(const std::string& text, const std::string& name);

}  // namespace podere::report
